/* What the runtime asks of a GPU, as a table of functions: a plan whose kernels run on one names the table of its API,
 * which is in libburin_gpu_<api>.a (runtime/gpu/). The rest of the runtime knows no API and links none.
 *
 * Addresses in host memory are the names of places on the device: weights, inputs, outputs, scratch and state each have
 * a copy there, and a kernel's descriptors, made as for the processor, are moved to it. So everything that computes
 * where an argument lies is there once. Of scratch memory on the host only positions are ever touched.
 */
#ifndef BURIN_DEVICE_H
#define BURIN_DEVICE_H

#include "scratch.h"

/* A model on a device, and one call of an entry point: what an API keeps besides follows in its own structures. */
typedef struct burin_device {
  const struct burin_device_api *api;
} burin_device;
typedef struct burin_device_call {
  const struct burin_device_api *api;
} burin_device_call;

typedef struct burin_device_memory {
  const burin_piece *inputs, *outputs;
  int32_t input_count, output_count;
  burin_piece scratch;
  const void *state; /* null: the entry has none */
} burin_device_memory;

typedef struct burin_device_api {
  /* Weights go to the device. Null, where there is none or it has no room. */
  burin_device *(*open)(const void *weights, size_t bytes);
  void (*close)(burin_device *device);
  /* Takes memory on the device for a call and copies the inputs there. BURIN_STATE_FOREIGN: the device has no state for
   * this one, as of bytes that were copied from another. */
  burin_status (*begin)(burin_device *device, const burin_device_memory *memory, burin_device_call **call);
  /* Copies what the host wrote to scratch. */
  burin_status (*upload)(burin_device_call *call, const void *scratch, size_t bytes);
  /* Makes the call of a kernel with its arguments on the device. Gives what the kernel gives. */
  int (*run)(burin_device_call *call, const burin_plan_call *kernel, void **arguments);
  /* Copies the outputs back, unless `status` is of a call that failed, and gives the memory back. */
  burin_status (*end)(burin_device_call *call, burin_status status);
  /* A state that the host wrote becomes the device's; a state of the device is copied to the host. States are known by
   * their address, and kept until the model is closed. */
  burin_status (*write_state)(burin_device *device, void *state, size_t bytes);
  burin_status (*read_state)(burin_device *device, const void *state);
} burin_device_api;

/* Called around what looks into a state, or wrote one: nothing to do where the processor runs the kernels. */
static inline burin_status burin_state_to_device(const burin_plan *plan, const burin_model *model, void *state) {
  return plan->device ? plan->device->write_state(model->device, state, (size_t)plan->state_bytes) : BURIN_OK;
}

static inline burin_status burin_state_from_device(const burin_plan *plan, const burin_model *model,
                                                   const void *state) {
  return plan->device ? plan->device->read_state(model->device, state) : BURIN_OK;
}

#endif
