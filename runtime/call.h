/* One kernel call: descriptors of its arguments, on the stack of the entry point, and the call itself.
 *
 * Descriptors are built anew for every call. Rejected: building them once into scratch and state; that saves a few
 * nanoseconds, and makes scratch memory something that must be prepared and can be stale.
 */
#ifndef BURIN_CALL_H
#define BURIN_CALL_H

#include "arena.h"
#include "device.h"
#include "kernel_buffer.h"
#include "state.h"

typedef struct burin_descriptor {
  burin_kernel_buffer buffer;
  burin_kernel_dimension dimensions[2];
} burin_descriptor;

static inline burin_kernel_type burin_type_of(int32_t type) {
  static const burin_kernel_type types[] = {
      {BURIN_CODE_FLOAT, 32, 1}, {BURIN_CODE_FLOAT, 64, 1}, {BURIN_CODE_INT, 64, 1}, {BURIN_CODE_INT, 32, 1},
      {BURIN_CODE_UINT, 8, 1},   {BURIN_CODE_UINT, 16, 1},  {BURIN_CODE_INT, 8, 1}};
  return types[type];
}

static inline void burin_describe(burin_descriptor *descriptor, int32_t type, void *host, int32_t dimensions) {
  burin_kernel_buffer *buffer = &descriptor->buffer;
  buffer->device = 0;
  buffer->device_interface = NULL;
  buffer->host = (unsigned char *)host;
  buffer->flags = 0;
  buffer->type = burin_type_of(type);
  buffer->dimensions = dimensions;
  buffer->dim = descriptor->dimensions;
  buffer->padding = NULL;
}

static inline void burin_describe_dimension(burin_descriptor *descriptor, int index, int64_t extent, int64_t stride) {
  burin_kernel_dimension *dimension = &descriptor->dimensions[index];
  dimension->min = 0;
  dimension->extent = (int32_t)extent;
  dimension->stride = (int32_t)stride;
  dimension->flags = 0;
}

/* [rows][columns] without gaps; dimension 0 is the column. */
static inline void *burin_describe_rows(burin_descriptor *descriptor, int32_t type, void *host, int64_t columns,
                                        int64_t rows) {
  burin_describe(descriptor, type, host, 2);
  burin_describe_dimension(descriptor, 0, columns, 1);
  burin_describe_dimension(descriptor, 1, rows, columns);
  return &descriptor->buffer;
}

static inline void *burin_describe_vector(burin_descriptor *descriptor, int32_t type, void *host, int64_t elements) {
  burin_describe(descriptor, type, host, 1);
  burin_describe_dimension(descriptor, 0, elements, 1);
  return &descriptor->buffer;
}

/* The pointer that stands for an argument of a stream's entry which is of the state, not of this call's rows. Positions
 * and counts are by stream. */
static inline void *burin_describe_state(burin_descriptor *descriptor, const burin_plan_argument *argument,
                                         unsigned char *state, const int64_t *position, const int64_t *taken) {
  unsigned char *host = state + argument->offset;
  switch (argument->kind) {
  case BURIN_ARG_POSITION:
    return (void *)(uintptr_t)&position[argument->index];
  case BURIN_ARG_COUNT:
    return (void *)(uintptr_t)&taken[argument->index];
  case BURIN_ARG_STATE:
    return burin_describe_vector(descriptor, argument->type, host, argument->columns);
  case BURIN_ARG_STATE_ROW:
    host += burin_row_place(taken[argument->index], argument->columns, argument->tile, argument->ring) *
            (int64_t)burin_element_bytes(argument->type);
    burin_describe_rows(descriptor, argument->type, host, argument->columns, 1);
    descriptor->dimensions[0].stride = argument->tile == 0 ? 1 : argument->tile;
    return &descriptor->buffer;
  default: /* no other kind occurs */
    return NULL;
  }
}

static inline void burin_probe(const burin_plan_call *call, int finished) {
  burin_rt_probe_function probe = burin_rt_probe;
  if (BURIN_UNLIKELY(probe != NULL))
    probe(call, finished);
}

static inline burin_status burin_call_kernel(const burin_plan_call *call, void **arguments, const burin_arena *arena) {
  int error =
      BURIN_LIKELY(!arena->device) ? call->kernel(arguments) : arena->device->api->run(arena->device, call, arguments);
  return BURIN_UNLIKELY(error != 0 || arena->failed) ? BURIN_KERNEL_FAILED : BURIN_OK;
}

#endif
