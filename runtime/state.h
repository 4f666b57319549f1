/* What stands where in a state: its header, and the rows of its caches.
 *
 * Row n of a cache is the n-th row that its stream took since the reset. Where the stream may go on for ever the cache
 * is a ring: the row comes to lie at n modulo the rows of the storage, and only the last `window` rows count.
 */
#ifndef BURIN_STATE_H
#define BURIN_STATE_H

#include "private.h"

/* Element of row `row`'s first feature, in a cache of `tile` and `ring` layout; features lie `tile` (or 1) apart. */
static inline int64_t burin_row_place(int64_t row, int64_t features, int64_t tile, int64_t ring) {
  if (ring != 0)
    row %= ring;
  return tile == 0 ? row * features : row / tile * tile * features + row % tile;
}

/* Whether the memory is a state of this plan; gives the rows that each stream took since the reset. */
static inline int burin_state_belongs(const burin_state_header *header, const burin_plan *plan,
                                      int64_t taken[BURIN_MAX_AXES]) {
  int64_t signs = 0;
  for (int stream = 0; stream < BURIN_MAX_AXES; ++stream) {
    int64_t position = header->position[stream], start = header->start[stream];
    taken[stream] = (int64_t)((uint64_t)position - (uint64_t)start);
    signs |= position | start | taken[stream];
  }
  return header->magic == BURIN_STATE_MAGIC && header->fingerprint == plan->fingerprint && signs >= 0;
}

/* Whether a stream that took `taken` rows and stands at `position` has room for `count` more. */
static inline int burin_stream_has_room(const burin_plan_stream *stream, int64_t position, int64_t taken,
                                        int64_t count) {
  int64_t room = INT64_MAX - position;
  if (stream->capacity >= 0 && stream->capacity - taken < room)
    room = stream->capacity - taken;
  if (stream->position_end >= 0 && stream->position_end - position < room)
    room = stream->position_end - position;
  return count <= room;
}

/* The rows of a value that count, [first, first + rows), when its stream took `taken`. An accumulator has always one.
 */
typedef struct burin_kept_rows {
  int64_t first, rows;
} burin_kept_rows;

static inline burin_kept_rows burin_kept(const burin_plan_state_value *value, int64_t taken) {
  burin_kept_rows kept = {0, value->rows};
  if (value->type == BURIN_F64)
    return kept;
  int64_t most = value->window != 0 ? value->window : value->rows;
  kept.rows = taken < most ? taken : most;
  kept.first = value->window != 0 ? taken - kept.rows : 0;
  return kept;
}

static inline int64_t burin_ring(const burin_plan_state_value *value) { return value->window != 0 ? value->rows : 0; }

/* Copies the kept rows of a value between its storage and plain order, oldest first: [row][feature] at any address. */
typedef enum burin_direction { BURIN_FROM_STATE, BURIN_TO_STATE } burin_direction;
BURIN_PRIVATE void burin_move_rows(burin_direction direction, const burin_plan_state_value *value, int64_t taken,
                                   unsigned char *storage, unsigned char *plain);

#endif
