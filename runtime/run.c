/* `forward` and `forward_batch`: one path, as one sequence is a batch of one.
 *
 * Rows of sequences lie one after another, so most calls run once over the rows of several sequences; calls that look
 * along time run once for each sequence, on buffers of that sequence alone. A large batch runs in parts of whole
 * sequences, which is faster (probably since what a kernel leaves is still in cache when the next one reads it), and
 * scratch does not grow with the batch. No bit depends on where a part ends.
 */
#include "call.h"
#include "scratch.h"
#include <string.h>

burin_rt_probe_function burin_rt_probe;

/* Rows of a part, unless one sequence has more. Measured (MiniLM, 64 texts of 2 to 256 tokens): 128, 256 and 512 rows give
 * 30.1, 30.6 and 30.6 texts a second; the whole batch at once is slower than its texts one by one. */
enum { PART_ROWS = 256 };

typedef struct batch {
  const burin_plan *plan;
  const burin_plan_entry *entry;
  const burin_model *model;
  int64_t sequences;             /* of the batch; while it runs, of the part */
  int64_t first_sequence;        /* of the part */
  const int64_t *const *offsets; /* a symbol's row at which each sequence starts: sequences + 1 entries */
  int64_t start[BURIN_SLOTS];    /* the part's first row */
  int64_t rows[BURIN_SLOTS];     /* of all these sequences */
  int64_t longest[BURIN_SLOTS];  /* rows of the longest sequence */
  const void *const *inputs;
  void *const *outputs;
  unsigned char *regions[BURIN_SLOTS];
  int64_t *positions[BURIN_MAX_AXES];
  burin_arena arena;
  int64_t pairs_before[BURIN_MAX_AXES][BURIN_MAX_AXES]; /* elements of the masks before the part, by their axes */
} batch;

/* The rows of a part that a call sees: all of them, or those of one sequence. */
typedef struct window {
  int64_t first[BURIN_SLOTS];
  int64_t rows[BURIN_SLOTS];
  int64_t pairs_before[BURIN_MAX_AXES][BURIN_MAX_AXES]; /* elements of the masks of earlier sequences, by their axes */
} window;

/* Most rows of an axis that a part can have, out of `rows` in the batch. */
static int64_t part_rows(const burin_plan *plan, int32_t axis, int64_t rows) {
  int64_t most = plan->axes[axis].maximum > PART_ROWS ? plan->axes[axis].maximum : PART_ROWS;
  return rows < most ? rows : most;
}

static size_t entry_scratch_bytes(const burin_plan_entry *entry, int32_t axis_count, const int64_t *rows) {
  size_t bytes = burin_arena_bytes(entry);
  if (entry->uses_positions)
    for (int32_t axis = 0; axis < axis_count; ++axis)
      bytes = burin_size_add(bytes, burin_positions_bytes(rows[axis]));
  for (int slot = 0; slot < BURIN_SLOTS; ++slot)
    bytes = burin_size_add(bytes, burin_size_multiply((size_t)entry->scratch_row_bytes[slot], (size_t)rows[slot]));
  return bytes;
}

size_t burin_rt_scratch_bytes(const burin_plan *plan, const int64_t *rows, int64_t sequences) {
  int64_t counts[BURIN_SLOTS] = {0};
  for (int32_t axis = 0; axis < plan->axis_count; ++axis)
    counts[axis] = rows && rows[axis] > 0 ? part_rows(plan, axis, rows[axis]) : 0;
  counts[BURIN_SLOT_SEQUENCE] = sequences > 0 ? sequences : 0;
  counts[BURIN_SLOT_ONE] = 1;
  size_t bytes = entry_scratch_bytes(plan->forward, plan->axis_count, counts);
  if (plan->step) {
    for (int slot = 0; slot < BURIN_SLOTS; ++slot)
      counts[slot] = 1;
    size_t step_bytes = entry_scratch_bytes(plan->step, 0, counts);
    bytes = step_bytes > bytes ? step_bytes : bytes;
  }
  return bytes;
}

static burin_status count_rows(batch *run) {
  if (run->sequences < 0)
    return BURIN_TIME_OUT_OF_RANGE;
  for (int32_t axis = 0; axis < run->plan->axis_count; ++axis) {
    const int64_t *offsets = run->offsets[axis];
    int64_t maximum = run->plan->axes[axis].maximum;
    if (!offsets)
      return BURIN_NULL_POINTER;
    if (offsets[0] != 0)
      return BURIN_BAD_OFFSETS;
    for (int64_t sequence = 0; sequence < run->sequences; ++sequence) {
      if (offsets[sequence + 1] < offsets[sequence])
        return BURIN_BAD_OFFSETS;
      int64_t rows = offsets[sequence + 1] - offsets[sequence];
      if (rows > maximum)
        return BURIN_TIME_OUT_OF_RANGE;
      run->longest[axis] = rows > run->longest[axis] ? rows : run->longest[axis];
    }
    run->rows[axis] = offsets[run->sequences];
  }
  run->rows[BURIN_SLOT_SEQUENCE] = run->sequences;
  run->rows[BURIN_SLOT_ONE] = run->longest[BURIN_SLOT_SEQUENCE] = run->longest[BURIN_SLOT_ONE] = 1;
  return BURIN_OK;
}

/* Kernels index with 32 bits: no buffer that one call sees may have 2^31 elements. With fewer rows than this, none has
 * that is not refused when compiled. */
enum { ROWS_ALWAYS_INDEXABLE = 4096 };

static burin_status check_indexable(const batch *run) {
  int many = 0;
  int64_t most[BURIN_SLOTS];
  for (int slot = 0; slot < BURIN_SLOTS; ++slot) {
    most[slot] = slot < run->plan->axis_count ? part_rows(run->plan, slot, run->rows[slot]) : run->rows[slot];
    many |= most[slot] >= ROWS_ALWAYS_INDEXABLE;
  }
  if (!many)
    return BURIN_OK;
  for (int32_t c = 0; c < run->entry->call_count; ++c) {
    const burin_plan_call *call = &run->entry->calls[c];
    const int64_t *rows = call->per_sequence ? run->longest : most;
    for (int32_t a = 0; a < call->argument_count; ++a) {
      const burin_plan_argument *argument = &call->arguments[a];
      if (argument->kind < BURIN_ARG_INPUT || argument->kind > BURIN_ARG_POSITIONS)
        continue;
      int64_t columns = argument->column_axis >= 0 ? rows[argument->column_axis] : argument->columns;
      if (columns > 0 && rows[burin_slot(argument->row_axis)] > INT32_MAX / columns)
        return BURIN_TIME_OUT_OF_RANGE;
    }
  }
  return BURIN_OK;
}

static size_t tensor_bytes(const batch *run, const burin_plan_tensor *tensor) {
  size_t element = burin_element_bytes(tensor->type);
  if (tensor->column_axis < 0)
    return burin_size_multiply((size_t)run->rows[burin_slot(tensor->row_axis)], (size_t)tensor->columns * element);
  const int64_t *rows = run->offsets[tensor->row_axis], *columns = run->offsets[tensor->column_axis];
  size_t bytes = 0;
  for (int64_t s = 0; s < run->sequences; ++s)
    bytes = burin_size_add(
        bytes, burin_size_multiply((size_t)(rows[s + 1] - rows[s]), (size_t)(columns[s + 1] - columns[s]) * element));
  return bytes;
}

static burin_status check_memory(const batch *run, void *scratch, size_t scratch_bytes) {
  const burin_plan_entry *entry = run->entry;
  int64_t rows[BURIN_SLOTS];
  for (int slot = 0; slot < BURIN_SLOTS; ++slot)
    rows[slot] = slot < run->plan->axis_count ? part_rows(run->plan, slot, run->rows[slot]) : run->rows[slot];
  size_t needed = entry_scratch_bytes(entry, run->plan->axis_count, rows);
  if (!scratch && needed != 0)
    return BURIN_NULL_POINTER;
  if (!burin_is_aligned(scratch, BURIN_BLOCK_ALIGNMENT))
    return BURIN_MISALIGNED;
  if (scratch_bytes < needed || needed == SIZE_MAX)
    return BURIN_SCRATCH_TOO_SMALL;
  burin_piece inputs[BURIN_MAX_TENSORS], outputs[BURIN_MAX_TENSORS], working = {scratch, needed};
  for (int32_t i = 0; i < entry->input_count; ++i) {
    inputs[i].memory = run->inputs[i];
    inputs[i].bytes = tensor_bytes(run, &entry->inputs[i]);
  }
  for (int32_t i = 0; i < entry->output_count; ++i) {
    outputs[i].memory = run->outputs[i];
    outputs[i].bytes = tensor_bytes(run, &entry->outputs[i]);
  }
  burin_status status = burin_check_pieces(inputs, entry->input_count, outputs, entry->output_count, &working, 1);
  return status == BURIN_OK ? burin_check_ids(entry, inputs) : status;
}

static void lay_out_scratch(batch *run, void *scratch) {
  const burin_plan_entry *entry = run->entry;
  unsigned char *next = (unsigned char *)scratch;
  burin_arena_start(&run->arena, next, burin_arena_bytes(entry));
  next = (unsigned char *)burin_advance_pointer(next, (int64_t)burin_arena_bytes(entry));
  if (entry->uses_positions)
    for (int32_t axis = 0; axis < run->plan->axis_count; ++axis) {
      int64_t *positions = run->positions[axis] = (int64_t *)(void *)next;
      const int64_t *offsets = run->offsets[axis] + run->first_sequence;
      for (int64_t s = 0; s < run->sequences; ++s)
        for (int64_t row = offsets[s]; row < offsets[s + 1]; ++row)
          positions[row - offsets[0]] = row - offsets[s];
      next = (unsigned char *)burin_advance_pointer(next, (int64_t)burin_positions_bytes(run->rows[axis]));
    }
  for (int slot = 0; slot < BURIN_SLOTS; ++slot) {
    run->regions[slot] = next;
    next = (unsigned char *)burin_advance_pointer(next, entry->scratch_row_bytes[slot] * run->rows[slot]);
  }
}

/* The pointer that stands for one argument. `rows_seen` collects whether any row buffer of the call has rows. */
static void *describe_argument(const batch *run, const window *view, const burin_plan_argument *argument,
                               burin_descriptor *descriptor, int64_t *rows_seen) {
  int slot = burin_slot(argument->row_axis);
  int64_t columns = argument->columns, rows = view->rows[slot], first = view->first[slot] * columns;
  int64_t start = run->start[slot] * columns; /* in the caller's tensors; scratch holds the part alone */
  const void *base;
  switch (argument->kind) {
  case BURIN_ARG_WEIGHTS:
    return burin_describe_vector(descriptor, BURIN_F32, (void *)(uintptr_t)(run->model->weights + argument->offset),
                                 columns);
  case BURIN_ARG_INPUT:
    base = run->inputs[argument->index];
    first += start;
    break;
  case BURIN_ARG_OUTPUT:
    base = run->outputs[argument->index];
    first += start;
    break;
  case BURIN_ARG_SCRATCH:
    base = burin_advance_pointer(run->regions[slot], argument->offset * run->rows[slot]);
    break;
  case BURIN_ARG_POSITIONS:
    return burin_describe_rows(descriptor, BURIN_I64, run->positions[slot] + view->first[slot], 1, rows);
  default: /* nothing of a state occurs in forward */
    return NULL;
  }
  if (argument->column_axis >= 0) {
    columns = view->rows[argument->column_axis];
    first = view->pairs_before[argument->row_axis][argument->column_axis];
  }
  *rows_seen |= rows;
  void *host = burin_advance_pointer(base, first * (int64_t)burin_element_bytes(argument->type));
  return burin_describe_rows(descriptor, argument->type, host, columns, rows);
}

static burin_status run_call(batch *run, const window *view, const burin_plan_call *call) {
  burin_descriptor descriptors[BURIN_MAX_ARGUMENTS];
  void *arguments[BURIN_MAX_ARGUMENTS];
  void *context = &run->arena;
  int64_t rows_seen = 0;
  for (int32_t i = 0; i < call->argument_count; ++i)
    arguments[i] = call->arguments[i].kind == BURIN_ARG_CONTEXT
                       ? &context
                       : describe_argument(run, view, &call->arguments[i], &descriptors[i], &rows_seen);
  /* With no row on any side there is nothing to write; a pool over no rows still has its one result row. */
  return rows_seen == 0 ? BURIN_OK : burin_call_kernel(call, arguments, &run->arena);
}

static burin_status run_call_per_sequence(batch *run, const burin_plan_call *call) {
  window view = {{0}, {0}, {{0}}};
  int32_t axes = run->plan->axis_count;
  memcpy(view.pairs_before, run->pairs_before, sizeof view.pairs_before);
  view.rows[BURIN_SLOT_SEQUENCE] = view.rows[BURIN_SLOT_ONE] = 1;
  for (int64_t sequence = 0; sequence < run->sequences; ++sequence) {
    view.first[BURIN_SLOT_SEQUENCE] = sequence;
    for (int32_t axis = 0; axis < axes; ++axis) {
      const int64_t *offset = run->offsets[axis] + run->first_sequence + sequence;
      view.first[axis] = offset[0] - run->start[axis];
      view.rows[axis] = offset[1] - offset[0];
    }
    burin_status status = run_call(run, &view, call);
    if (status != BURIN_OK)
      return status;
    for (int32_t a = 0; a < axes; ++a)
      for (int32_t b = 0; b < axes; ++b)
        view.pairs_before[a][b] += view.rows[a] * view.rows[b];
  }
  return BURIN_OK;
}

/* Makes the next part of whole sequences, beginning at run->first_sequence: as many as PART_ROWS takes, at least one.
 */
static void choose_part(batch *run, int64_t sequences) {
  int32_t axes = run->plan->axis_count;
  int64_t end = run->first_sequence, fits = 1;
  do {
    ++end;
    for (int32_t axis = 0; axis < axes && end < sequences; ++axis)
      fits &= run->offsets[axis][end + 1] - run->offsets[axis][run->first_sequence] <= PART_ROWS;
  } while (fits && end < sequences);
  run->sequences = end - run->first_sequence;
  for (int32_t axis = 0; axis < axes; ++axis) {
    run->start[axis] = run->offsets[axis][run->first_sequence];
    run->rows[axis] = run->offsets[axis][end] - run->start[axis];
  }
  run->start[BURIN_SLOT_SEQUENCE] = run->first_sequence;
  run->rows[BURIN_SLOT_SEQUENCE] = run->sequences;
}

static burin_status run_part(batch *run, void *scratch) {
  lay_out_scratch(run, scratch);
  window all = {{0}, {0}, {{0}}};
  for (int slot = 0; slot < BURIN_SLOTS; ++slot)
    all.rows[slot] = run->rows[slot];
  burin_status status = BURIN_OK;
  for (int32_t c = 0; c < run->entry->call_count && status == BURIN_OK; ++c)
    status = run->entry->calls[c].per_sequence ? run_call_per_sequence(run, &run->entry->calls[c])
                                               : run_call(run, &all, &run->entry->calls[c]);
  return status;
}

/* Leaves the part behind: its masks, and its sequences. */
static void finish_part(batch *run) {
  int32_t axes = run->plan->axis_count;
  for (int64_t s = run->first_sequence; s < run->first_sequence + run->sequences; ++s)
    for (int32_t a = 0; a < axes; ++a)
      for (int32_t b = 0; b < axes; ++b)
        run->pairs_before[a][b] +=
            (run->offsets[a][s + 1] - run->offsets[a][s]) * (run->offsets[b][s + 1] - run->offsets[b][s]);
  run->first_sequence += run->sequences;
}

burin_status burin_rt_forward_batch(const burin_plan *plan, const burin_model *model, void *scratch,
                                    size_t scratch_bytes, int64_t sequences, const int64_t *const *offsets,
                                    const void *const *inputs, void *const *outputs) {
  const burin_plan_entry *entry = plan->forward;
  if (!model || (!offsets && plan->axis_count > 0) || (!inputs && entry->input_count > 0) ||
      (!outputs && entry->output_count > 0))
    return BURIN_NULL_POINTER;
  if (model->fingerprint != plan->fingerprint)
    return BURIN_WEIGHTS_MISMATCH;
  batch run = {0};
  run.plan = plan;
  run.entry = entry;
  run.model = model;
  run.sequences = sequences;
  run.offsets = offsets;
  run.inputs = inputs;
  run.outputs = outputs;
  burin_status status = count_rows(&run);
  if (status == BURIN_OK)
    status = check_indexable(&run);
  if (status == BURIN_OK)
    status = check_memory(&run, scratch, scratch_bytes);
  while (status == BURIN_OK && run.first_sequence < sequences) {
    choose_part(&run, sequences);
    status = run_part(&run, scratch);
    finish_part(&run);
  }
  return status;
}

burin_status burin_rt_forward(const burin_plan *plan, const burin_model *model, void *scratch, size_t scratch_bytes,
                              const int64_t *rows, const void *const *inputs, void *const *outputs) {
  int64_t bounds[BURIN_MAX_AXES][2];
  const int64_t *offsets[BURIN_MAX_AXES] = {NULL};
  if (!rows && plan->axis_count > 0)
    return BURIN_NULL_POINTER;
  for (int32_t axis = 0; axis < plan->axis_count; ++axis) {
    if (rows[axis] < 0)
      return BURIN_TIME_OUT_OF_RANGE;
    bounds[axis][0] = 0;
    bounds[axis][1] = rows[axis];
    offsets[axis] = bounds[axis];
  }
  return burin_rt_forward_batch(plan, model, scratch, scratch_bytes, 1, offsets, inputs, outputs);
}
