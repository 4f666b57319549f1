/* The calls of an entry over many units (time steps, sequences): a part of a batch in `forward`, several rows of a
 * stream in `advance`. A part says what the units are and where their rows lie, a view which of them one call sees.
 *
 * One row of a stream has no views and no counts; step.c runs it by a shorter way. Several workers: split.h.
 */
#ifndef BURIN_CALLS_H
#define BURIN_CALLS_H

#include "call.h"
#include "scratch.h"

/* The units that a call sees: all of a part, or those of one sequence. */
typedef struct burin_view {
  int64_t first[BURIN_SLOTS];
  int64_t units[BURIN_SLOTS];
  int64_t pairs_before[BURIN_MAX_AXES][BURIN_MAX_AXES]; /* elements of the masks of earlier sequences, by their axes */
} burin_view;

typedef struct burin_part {
  const burin_plan_entry *entry;
  const unsigned char *weights;
  const void *const *inputs;
  void *const *outputs;
  int64_t start[BURIN_SLOTS];          /* the part's first unit in inputs and outputs */
  burin_view all;                      /* of the part's units, from the first on */
  unsigned char *regions[BURIN_SLOTS]; /* of scratch, which holds the part alone */
  int64_t *positions[BURIN_MAX_AXES];
  burin_arena arena;
  burin_device_call *device; /* where the kernels run on a GPU; else null */
  /* Of batches alone: */
  int32_t axes;
  int64_t worker_work;                    /* the plan's */
  const int64_t *offsets[BURIN_MAX_AXES]; /* a symbol's row at which each sequence starts, and where the last ends */
  /* Of streams alone: */
  unsigned char *state;
  const int64_t *position; /* of each stream's next row */
  const int64_t *taken;    /* rows of each stream so far */
} burin_part;

/* What a call writes of what it sees: its results' rows from `first_tile` · split_units on, so many of them. */
typedef struct burin_result_rows {
  int32_t first_tile;
  int64_t rows; /* less than 0: all that it sees */
} burin_result_rows;

/* Places the part's arena, positions and regions in scratch; the positions are left to fill in. */
BURIN_PRIVATE void burin_lay_out_part(burin_part *part, void *scratch);
/* Once the positions are filled in: a GPU gets them too. */
BURIN_PRIVATE burin_status burin_upload_positions(const burin_part *part);
/* Of a batch's part: sees its first sequence, or the one behind the one that it saw. */
BURIN_PRIVATE void burin_view_first_sequence(const burin_part *part, burin_view *view);
BURIN_PRIVATE void burin_view_next_sequence(const burin_part *part, burin_view *view);

/* Makes the call, unless its guard is closed in the view or no argument has a row. */
BURIN_PRIVATE burin_status burin_run_call(burin_part *part, const burin_view *view, const burin_plan_call *call);
/* The two halves of it: whether the guard is open, and the call for some rows, with an arena and under no probe. */
BURIN_PRIVATE int burin_is_open(const burin_part *part, const burin_view *view, const burin_plan_call *call);
BURIN_PRIVATE burin_status burin_run_rows(const burin_part *part, const burin_view *view, const burin_plan_call *call,
                                          burin_result_rows results, burin_arena *arena);

#endif
