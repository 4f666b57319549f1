/* A state between steps: clearing it, asking how far it is, reading its values. */
#include "state.h"
#include "device.h"

#include <string.h>

burin_status burin_rt_reset(const burin_plan *plan, const burin_model *model, void *state, size_t state_bytes,
                            int64_t position) {
  if (plan->stream_count == 0)
    return BURIN_NO_STEP;
  burin_status status = burin_take_plan_of(model, &plan);
  if (status != BURIN_OK)
    return status;
  if (!state)
    return BURIN_NULL_POINTER;
  if (!burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT))
    return BURIN_MISALIGNED;
  if (state_bytes < (size_t)plan->state_bytes)
    return BURIN_SCRATCH_TOO_SMALL;
  if (position < 0 || (plan->streams[0].position_end >= 0 && position > plan->streams[0].position_end))
    return BURIN_TIME_OUT_OF_RANGE;
  /* Accumulators start from zero. Cache rows are never read before they are written, but a tile is read whole, and
   * nothing of what the memory held before should be visible. */
  memset(state, 0, (size_t)plan->state_bytes);
  burin_state_header *header = (burin_state_header *)state;
  header->magic = BURIN_STATE_MAGIC;
  header->fingerprint = plan->fingerprint;
  header->position[0] = header->start[0] = position;
  return burin_state_to_device(plan, model, state);
}

int64_t burin_state_stream_position(const void *state, int stream) {
  if (!state || !burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT) || stream < 0 || stream >= BURIN_MAX_AXES)
    return -1;
  const burin_state_header *header = (const burin_state_header *)state;
  return header->magic == BURIN_STATE_MAGIC ? header->position[stream] : -1;
}

int64_t burin_state_position(const void *state) { return burin_state_stream_position(state, 0); }

void burin_move_rows(burin_direction direction, const burin_plan_state_value *value, int64_t taken,
                     unsigned char *storage, unsigned char *plain) {
  burin_kept_rows kept = burin_kept(value, taken);
  size_t element = burin_element_bytes(value->type), row_bytes = (size_t)value->features * element;
  for (int64_t row = kept.first; row < kept.first + kept.rows; ++row, plain += row_bytes) {
    unsigned char *place =
        storage + (size_t)burin_row_place(row, value->features, value->tile, burin_ring(value)) * element;
    if (value->tile == 0) {
      memcpy(direction == BURIN_TO_STATE ? place : plain, direction == BURIN_TO_STATE ? plain : place, row_bytes);
      continue;
    }
    size_t stride = (size_t)value->tile * sizeof(float); /* accumulators have no tiles */
    for (size_t feature = 0; feature < (size_t)value->features; ++feature)
      if (direction == BURIN_TO_STATE)
        memcpy(place + feature * stride, plain + feature * sizeof(float), sizeof(float));
      else
        memcpy(plain + feature * sizeof(float), place + feature * stride, sizeof(float));
  }
}

static void read_value(const burin_plan_state_value *value, int64_t taken, const unsigned char *storage,
                       float *values) {
  if (value->type == BURIN_F64) {
    const double *from = (const double *)(const void *)storage;
    for (int64_t i = 0; i < value->rows * value->features; ++i)
      values[i] = (float)from[i];
    return;
  }
  burin_move_rows(BURIN_FROM_STATE, value, taken, (unsigned char *)(uintptr_t)storage, (unsigned char *)values);
}

burin_status burin_rt_state_read(const burin_plan *plan, const burin_model *model, const void *state, const char *name,
                                 float *values, size_t capacity, int64_t *rows) {
  if (plan->stream_count == 0)
    return BURIN_NO_STEP;
  burin_status status = burin_take_plan_of(model, &plan);
  if (status != BURIN_OK)
    return status;
  if (!state || !name || !rows || (!values && capacity != 0))
    return BURIN_NULL_POINTER;
  if (!burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT) || !burin_is_aligned(values, 4))
    return BURIN_MISALIGNED;
  int64_t taken[BURIN_MAX_AXES];
  if (!burin_state_belongs((const burin_state_header *)state, plan, taken))
    return BURIN_STATE_FOREIGN;
  for (int32_t i = 0; i < plan->state_value_count; ++i) {
    const burin_plan_state_value *value = &plan->state_values[i];
    if (strcmp(value->name, name) != 0)
      continue;
    int64_t kept = burin_kept(value, taken[value->stream]).rows;
    size_t count = burin_size_multiply((size_t)kept, (size_t)value->features);
    if (values) {
      if (count > capacity)
        return BURIN_NO_SUCH_STATE_VALUE;
      if (burin_overlap(values, count * sizeof(float), state, (size_t)plan->state_bytes))
        return BURIN_OVERLAP;
      status = burin_state_from_device(plan, model, state);
      if (status != BURIN_OK)
        return status;
      read_value(value, taken[value->stream], (const unsigned char *)state + value->offset, values);
    }
    *rows = kept;
    return BURIN_OK;
  }
  return BURIN_NO_SUCH_STATE_VALUE;
}
