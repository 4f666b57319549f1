/* `forward` and `forward_batch`: one path, as one sequence is a batch of one.
 *
 * Rows of sequences lie one after another, so most calls run once over the rows of several sequences; calls that look
 * along time run once for each sequence, on buffers of that sequence alone. A large batch runs in parts of whole
 * sequences, which is faster (probably since what a kernel leaves is still in cache when the next one reads it), and
 * scratch does not grow with the batch. No bit depends on where a part ends.
 */
#include "float_mode.h"
#include "split.h"

burin_rt_probe_function burin_rt_probe;

/* Rows of a part, unless one sequence has more. Measured (MiniLM, 64 texts of 2 to 256 tokens): 128, 256 and 512 rows
 * give 30.1, 30.6 and 30.6 texts a second; the whole batch at once is slower than its texts one by one. */
enum { PART_ROWS = 256 };

/* Units are a symbol's rows, sequences, or the one that everything shares. */
typedef struct batch {
  const burin_plan *plan;
  const burin_plan_entry *entry;
  int64_t sequences;
  const int64_t *const *offsets; /* a symbol's row at which each sequence starts: sequences + 1 entries */
  int64_t units[BURIN_SLOTS];    /* of all sequences */
  int64_t most[BURIN_SLOTS];     /* that a part can have */
  int64_t longest[BURIN_SLOTS];  /* of one sequence */
  burin_part part;
  int64_t first_sequence; /* of the part */
  burin_team *team;       /* null: this thread alone */
} batch;

/* Most rows of an axis that a part can have, out of `rows` in the batch. */
static int64_t part_rows(const burin_plan *plan, int32_t axis, int64_t rows) {
  int64_t most = plan->axes[axis].maximum > PART_ROWS ? plan->axes[axis].maximum : PART_ROWS;
  return rows < most ? rows : most;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t plan_scratch_bytes(const burin_plan *plan, const int64_t *rows, int64_t sequences) {
  int64_t units[BURIN_SLOTS] = {0};
  for (int32_t axis = 0; axis < plan->axis_count; ++axis)
    units[axis] = rows && rows[axis] > 0 ? part_rows(plan, axis, rows[axis]) : 0;
  units[BURIN_SLOT_SEQUENCE] = sequences > 0 ? sequences : 0;
  units[BURIN_SLOT_ONE] = 1;
  size_t bytes = burin_entry_scratch_bytes(plan->forward, units);
  for (int32_t s = 0; s < plan->stream_count; ++s) {
    const burin_plan_stream *stream = &plan->streams[s];
    bytes = larger(bytes, burin_stream_scratch_bytes(stream, 1));
    int64_t at_once = rows && stream->many ? rows[stream->axis] : 0;
    at_once = at_once < stream->most_rows ? at_once : stream->most_rows;
    if (at_once > 1)
      bytes = larger(bytes, burin_stream_scratch_bytes(stream, at_once));
  }
  return bytes;
}

size_t burin_rt_scratch_bytes(const burin_plan *plan, const int64_t *rows, int64_t sequences) {
  size_t bytes = 0;
  for (; plan; plan = plan->fallback) /* no model says which of them runs */
    bytes = larger(bytes, plan_scratch_bytes(plan, rows, sequences));
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
    run->units[axis] = offsets[run->sequences];
    run->most[axis] = part_rows(run->plan, axis, run->units[axis]);
  }
  run->units[BURIN_SLOT_SEQUENCE] = run->most[BURIN_SLOT_SEQUENCE] = run->sequences;
  run->units[BURIN_SLOT_ONE] = run->most[BURIN_SLOT_ONE] = 1;
  run->longest[BURIN_SLOT_SEQUENCE] = run->longest[BURIN_SLOT_ONE] = 1;
  return BURIN_OK;
}

/* Kernels index with 32 bits: no buffer that one call sees may have 2^31 elements. With fewer units than this, none has
 * that is not refused when compiled. */
enum { UNITS_ALWAYS_INDEXABLE = 4096 };

static burin_status check_indexable(const batch *run) {
  int many = 0;
  for (int slot = 0; slot < BURIN_SLOTS; ++slot)
    many |= run->most[slot] >= UNITS_ALWAYS_INDEXABLE;
  if (!many)
    return BURIN_OK;
  for (int32_t c = 0; c < run->entry->call_count; ++c) {
    const burin_plan_call *call = &run->entry->calls[c];
    const int64_t *units = call->per_sequence ? run->longest : run->most;
    for (int32_t a = 0; a < call->argument_count; ++a) {
      const burin_plan_argument *argument = &call->arguments[a];
      if (argument->kind < BURIN_ARG_INPUT || argument->kind > BURIN_ARG_POSITIONS)
        continue;
      int64_t columns = argument->column_axis >= 0 ? units[argument->column_axis] : argument->columns;
      int64_t elements = columns * argument->rows_each;
      if (elements > 0 && units[burin_slot(argument->row_axis)] > INT32_MAX / elements)
        return BURIN_TIME_OUT_OF_RANGE;
    }
  }
  return BURIN_OK;
}

static size_t tensor_bytes(const batch *run, const burin_plan_tensor *tensor) {
  size_t element = burin_element_bytes(tensor->type);
  if (tensor->column_axis < 0)
    return burin_size_multiply(burin_size(run->units[burin_slot(tensor->row_axis)]),
                               burin_size(tensor->rows_each * tensor->columns * (int64_t)element));
  const int64_t *rows = run->offsets[tensor->row_axis], *columns = run->offsets[tensor->column_axis];
  size_t bytes = 0;
  for (int64_t s = 0; s < run->sequences; ++s)
    bytes = burin_size_add(bytes,
                           burin_size_multiply(burin_size(rows[s + 1] - rows[s]),
                                               burin_size_multiply(burin_size(columns[s + 1] - columns[s]), element)));
  return bytes;
}

/* All that can be wrong with the caller's memory; where the kernels run on a GPU, what they need of it goes there. */
static burin_status check_memory(batch *run, const burin_model *model, void *scratch, size_t scratch_bytes) {
  const burin_plan_entry *entry = run->entry;
  size_t needed = burin_entry_scratch_bytes(entry, run->most);
  if (!scratch && needed != 0)
    return BURIN_NULL_POINTER;
  if (!burin_is_aligned(scratch, BURIN_BLOCK_ALIGNMENT))
    return BURIN_MISALIGNED;
  if (scratch_bytes < needed || needed == SIZE_MAX)
    return BURIN_SCRATCH_TOO_SMALL;
  burin_piece inputs[BURIN_MAX_TENSORS], outputs[BURIN_MAX_TENSORS], working = {scratch, needed};
  for (int32_t i = 0; i < entry->input_count; ++i) {
    inputs[i].memory = run->part.inputs[i];
    inputs[i].bytes = tensor_bytes(run, &entry->inputs[i]);
  }
  for (int32_t i = 0; i < entry->output_count; ++i) {
    outputs[i].memory = run->part.outputs[i];
    outputs[i].bytes = tensor_bytes(run, &entry->outputs[i]);
  }
  burin_status status = burin_check_pieces(inputs, entry->input_count, outputs, entry->output_count, &working, 1);
  if (status == BURIN_OK)
    status = burin_check_ids(entry, inputs);
  if (status == BURIN_OK && run->plan->device) {
    burin_device_memory memory = {inputs, outputs, entry->input_count, entry->output_count, working, NULL};
    status = run->plan->device->begin(model->device, &memory, &run->part.device);
  }
  return status;
}

static void lay_out_scratch(batch *run, void *scratch) {
  burin_lay_out_part(&run->part, scratch);
  if (!run->entry->uses_positions)
    return;
  for (int32_t axis = 0; axis < run->plan->axis_count; ++axis) {
    const int64_t *offsets = run->offsets[axis] + run->first_sequence;
    int64_t *positions = run->part.positions[axis], sequences = run->part.all.units[BURIN_SLOT_SEQUENCE];
    for (int64_t s = 0; s < sequences; ++s)
      for (int64_t row = offsets[s]; row < offsets[s + 1]; ++row)
        positions[row - offsets[0]] = row - offsets[s];
  }
}

/* Makes the next part of whole sequences, beginning at run->first_sequence: as many as PART_ROWS takes, at least one.
 */
static void choose_part(batch *run) {
  int32_t axes = run->plan->axis_count;
  int64_t end = run->first_sequence, fits = 1;
  do {
    ++end;
    for (int32_t axis = 0; axis < axes && end < run->sequences; ++axis)
      fits &= run->offsets[axis][end + 1] - run->offsets[axis][run->first_sequence] <= PART_ROWS;
  } while (fits && end < run->sequences);
  for (int32_t axis = 0; axis < axes; ++axis) {
    run->part.offsets[axis] = run->offsets[axis] + run->first_sequence;
    run->part.start[axis] = run->offsets[axis][run->first_sequence];
    run->part.all.units[axis] = run->offsets[axis][end] - run->part.start[axis];
  }
  run->part.start[BURIN_SLOT_SEQUENCE] = run->first_sequence;
  run->part.all.units[BURIN_SLOT_SEQUENCE] = end - run->first_sequence;
  run->part.all.units[BURIN_SLOT_ONE] = 1;
}

static burin_status run_part(batch *run, void *scratch) {
  lay_out_scratch(run, scratch);
  burin_status status = burin_upload_positions(&run->part);
  for (int32_t c = 0; c < run->entry->call_count && status == BURIN_OK; ++c)
    status = burin_run_split(&run->part, run->team, &run->entry->calls[c]);
  return status;
}

/* Leaves the part behind: its masks, and its sequences. */
static void finish_part(batch *run) {
  int32_t axes = run->plan->axis_count;
  int64_t end = run->first_sequence + run->part.all.units[BURIN_SLOT_SEQUENCE];
  for (int64_t s = run->first_sequence; s < end; ++s)
    for (int32_t a = 0; a < axes; ++a)
      for (int32_t b = 0; b < axes; ++b)
        run->part.all.pairs_before[a][b] +=
            (run->offsets[a][s + 1] - run->offsets[a][s]) * (run->offsets[b][s + 1] - run->offsets[b][s]);
  run->first_sequence = end;
}

burin_status burin_rt_forward_batch(const burin_plan *plan, const burin_model *model, void *scratch,
                                    size_t scratch_bytes, int64_t sequences, const int64_t *const *offsets,
                                    const void *const *inputs, void *const *outputs) {
  burin_status status = burin_take_plan_of(model, &plan);
  if (status != BURIN_OK)
    return status;
  const burin_plan_entry *entry = plan->forward;
  if ((!offsets && plan->axis_count > 0) || (!inputs && entry->input_count > 0) ||
      (!outputs && entry->output_count > 0))
    return BURIN_NULL_POINTER;
  batch run = {0};
  run.plan = plan;
  run.entry = entry;
  run.sequences = sequences;
  run.offsets = offsets;
  run.part.entry = entry;
  run.part.axes = plan->axis_count;
  run.part.worker_work = plan->worker_work;
  run.part.weights = model->weights;
  run.part.inputs = inputs;
  run.part.outputs = outputs;
  status = count_rows(&run);
  if (status == BURIN_OK)
    status = check_indexable(&run);
  if (status == BURIN_OK)
    status = check_memory(&run, model, scratch, scratch_bytes);
  if (status == BURIN_OK && model->team && burin_is_worth_splitting(plan, entry, run.most))
    run.team = burin_team_begin(model->team);
  const unsigned int mode = burin_enter_float_mode();
  while (status == BURIN_OK && run.first_sequence < sequences) {
    choose_part(&run);
    status = run_part(&run, scratch);
    finish_part(&run);
  }
  burin_leave_float_mode(mode);
  burin_team_end(run.team);
  return run.part.device ? run.part.device->api->end(run.part.device, status) : status;
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
