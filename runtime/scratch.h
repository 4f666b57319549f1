/* What lies where in a call's scratch memory, and the checks on the memory that a caller hands in.
 *
 *   [arena of the kernels] [positions of each symbol's rows, if any call takes them] [region of each axis]
 *
 * A value that has a row, or some, per unit of an axis (time step, sequence) lies in that axis' region, its rows
 * without gaps: the plan gives offsets per unit, so one memory plan serves every number of units.
 */
#ifndef BURIN_SCRATCH_H
#define BURIN_SCRATCH_H

#include "private.h"

/* Regions, and counts of units, in the order of burin_plan_entry.scratch_row_bytes. */
enum { BURIN_SLOT_SEQUENCE = BURIN_MAX_AXES, BURIN_SLOT_ONE = BURIN_MAX_AXES + 1, BURIN_SLOTS = BURIN_MAX_AXES + 2 };

static inline int burin_slot(int32_t axis) {
  return axis >= 0 ? axis : axis == BURIN_AXIS_SEQUENCE ? BURIN_SLOT_SEQUENCE : BURIN_SLOT_ONE;
}

static inline size_t burin_arena_bytes(const burin_plan_entry *entry) {
  return burin_size_round_up(burin_size(entry->kernel_scratch_bytes));
}

static inline size_t burin_positions_bytes(int64_t rows) {
  return burin_size_round_up(burin_size_multiply(burin_size(rows), sizeof(int64_t)));
}

/* What an entry needs for so many units of each axis. */
static inline size_t burin_entry_scratch_bytes(const burin_plan_entry *entry, const int64_t *units) {
  size_t bytes = burin_arena_bytes(entry);
  if (entry->uses_positions)
    for (int32_t axis = 0; axis < BURIN_MAX_AXES; ++axis)
      bytes = burin_size_add(bytes, burin_positions_bytes(units[axis]));
  for (int slot = 0; slot < BURIN_SLOTS; ++slot)
    bytes =
        burin_size_add(bytes, burin_size_multiply(burin_size(entry->scratch_row_bytes[slot]), burin_size(units[slot])));
  return bytes;
}

/* What `rows` rows of a stream need at once: by `one`, or by `many`, which takes two or more. */
static inline size_t burin_stream_scratch_bytes(const burin_plan_stream *stream, int64_t rows) {
  int64_t units[BURIN_SLOTS] = {0};
  units[BURIN_SLOT_SEQUENCE] = units[BURIN_SLOT_ONE] = 1;
  if (rows == 1)
    return burin_entry_scratch_bytes(stream->one, units);
  units[stream->axis] = rows;
  return burin_entry_scratch_bytes(stream->many, units);
}

/* A piece of memory of the caller. */
typedef struct burin_piece {
  const void *memory;
  size_t bytes;
} burin_piece;

/* Inputs may overlap inputs; no other two of `inputs`, `outputs` and `working` (state and scratch) may. */
static inline burin_status burin_check_pieces(const burin_piece *inputs, int32_t input_count,
                                              const burin_piece *outputs, int32_t output_count,
                                              const burin_piece *working, int32_t working_count) {
  for (int32_t i = 0; i < input_count; ++i) {
    if (BURIN_UNLIKELY(!inputs[i].memory && inputs[i].bytes != 0))
      return BURIN_NULL_POINTER;
    if (BURIN_UNLIKELY(!burin_is_aligned(inputs[i].memory, 4)))
      return BURIN_MISALIGNED;
    for (int32_t w = 0; w < working_count; ++w)
      if (BURIN_UNLIKELY(burin_overlap(inputs[i].memory, inputs[i].bytes, working[w].memory, working[w].bytes)))
        return BURIN_OVERLAP;
  }
  for (int32_t o = 0; o < output_count; ++o) {
    if (BURIN_UNLIKELY(!outputs[o].memory && outputs[o].bytes != 0))
      return BURIN_NULL_POINTER;
    if (BURIN_UNLIKELY(!burin_is_aligned(outputs[o].memory, 4)))
      return BURIN_MISALIGNED;
    for (int32_t w = 0; w < working_count; ++w)
      if (BURIN_UNLIKELY(burin_overlap(outputs[o].memory, outputs[o].bytes, working[w].memory, working[w].bytes)))
        return BURIN_OVERLAP;
    for (int32_t i = 0; i < input_count; ++i)
      if (BURIN_UNLIKELY(burin_overlap(outputs[o].memory, outputs[o].bytes, inputs[i].memory, inputs[i].bytes)))
        return BURIN_OVERLAP;
    for (int32_t other = 0; other < o; ++other)
      if (BURIN_UNLIKELY(
              burin_overlap(outputs[o].memory, outputs[o].bytes, outputs[other].memory, outputs[other].bytes)))
        return BURIN_OVERLAP;
  }
  return BURIN_OK;
}

/* The ids among the inputs are checked before any kernel runs: kernels read tables at them. `inputs` are sound pieces.
 */
static inline burin_status burin_check_ids(const burin_plan_entry *entry, const burin_piece *inputs) {
  for (int32_t i = 0; i < entry->input_count; ++i) {
    uint32_t limit = (uint32_t)entry->inputs[i].limit;
    if (BURIN_LIKELY(limit == 0 || entry->inputs[i].type != BURIN_I32))
      continue;
    const int32_t *ids = (const int32_t *)inputs[i].memory;
    size_t count = inputs[i].bytes / sizeof *ids;
    uint32_t bad = 0;
    for (size_t n = 0; n < count; ++n)
      bad |= (uint32_t)ids[n] >= limit; /* a negative id is a large one */
    if (BURIN_UNLIKELY(bad))
      return BURIN_BAD_ID;
  }
  return BURIN_OK;
}

#endif
