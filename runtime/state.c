/* A state between steps: clearing it, asking how far it is, reading its values. */
#include "private.h"

#include <string.h>

burin_status burin_rt_reset(const burin_plan *plan, const burin_model *model, void *state, size_t state_bytes) {
  if (!plan->step)
    return BURIN_NO_STEP;
  if (!model || !state)
    return BURIN_NULL_POINTER;
  if (!burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT))
    return BURIN_MISALIGNED;
  if (state_bytes < (size_t)plan->state_bytes)
    return BURIN_SCRATCH_TOO_SMALL;
  if (model->fingerprint != plan->fingerprint)
    return BURIN_WEIGHTS_MISMATCH;
  /* Accumulators start from zero. Cache rows are never read before they are written, but a tile is read whole, and
   * nothing of what the memory held before should be visible. */
  memset(state, 0, (size_t)plan->state_bytes);
  burin_state_header *header = (burin_state_header *)state;
  header->magic = BURIN_STATE_MAGIC;
  header->fingerprint = plan->fingerprint;
  return BURIN_OK;
}

int64_t burin_state_position(const void *state) {
  if (!state || !burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT))
    return -1;
  const burin_state_header *header = (const burin_state_header *)state;
  return header->magic == BURIN_STATE_MAGIC ? header->position : -1;
}

/* Rows come out in plain order, whatever the layout in the state: [row][feature]. */
static void copy_rows(const burin_plan_state_value *value, const unsigned char *storage, float *values, int64_t rows) {
  if (value->type == BURIN_F64) {
    const double *from = (const double *)(const void *)storage;
    for (int64_t i = 0; i < rows * value->features; ++i)
      values[i] = (float)from[i];
    return;
  }
  const float *from = (const float *)(const void *)storage;
  int64_t features = value->features, tile = value->tile;
  if (tile == 0) {
    memcpy(values, from, (size_t)(rows * features) * sizeof(float));
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    const float *first = from + row / tile * features * tile + row % tile;
    for (int64_t feature = 0; feature < features; ++feature)
      values[row * features + feature] = first[feature * tile];
  }
}

burin_status burin_rt_state_read(const burin_plan *plan, const burin_model *model, const void *state, const char *name,
                                 float *values, size_t capacity, int64_t *rows) {
  if (!plan->step)
    return BURIN_NO_STEP;
  if (!model || !state || !name || !rows || (!values && capacity != 0))
    return BURIN_NULL_POINTER;
  if (!burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT) || !burin_is_aligned(values, 4))
    return BURIN_MISALIGNED;
  const burin_state_header *header = (const burin_state_header *)state;
  if (header->magic != BURIN_STATE_MAGIC || header->fingerprint != plan->fingerprint || header->position < 0)
    return BURIN_STATE_FOREIGN;
  for (int32_t i = 0; i < plan->state_value_count; ++i) {
    const burin_plan_state_value *value = &plan->state_values[i];
    if (strcmp(value->name, name) != 0)
      continue;
    /* An accumulator always has its one row; a cache has a row per sample. */
    int64_t filled = value->type == BURIN_F64 || header->position > value->rows ? value->rows : header->position;
    size_t count = burin_size_multiply((size_t)filled, (size_t)value->features);
    if (values) {
      if (count > capacity)
        return BURIN_NO_SUCH_STATE_VALUE;
      if (burin_overlap(values, count * sizeof(float), state, (size_t)plan->state_bytes))
        return BURIN_OVERLAP;
      copy_rows(value, (const unsigned char *)state + value->offset, values, filled);
    }
    *rows = filled;
    return BURIN_OK;
  }
  return BURIN_NO_SUCH_STATE_VALUE;
}
