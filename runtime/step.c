/* `step`, `advance` and `append_<context>`: one row of a stream, or several, continuing from a state. All checks stand
 * before the first kernel; a stream's position moves after the last kernel of a row, or of the rows taken at once.
 *
 * One row goes a shorter way than calls.c: every value has as many rows as the plan says, and a step has tens of calls
 * of some hundred nanoseconds.
 */
#include "calls.h"
#include "float_mode.h"
#include "state.h"

typedef struct row_run {
  const burin_plan_entry *entry;
  const unsigned char *weights;
  unsigned char *state;
  const int64_t *position;             /* of each stream's next row: in the state's header */
  int64_t taken[BURIN_MAX_AXES];       /* rows of each stream so far */
  unsigned char *of_sequence, *of_one; /* regions of scratch */
  burin_arena arena;
} row_run;

static inline void *rows_of(const row_run *run, const burin_plan_argument *argument, const void *const *inputs,
                            void *const *outputs) {
  switch (argument->kind) {
  case BURIN_ARG_INPUT:
    return burin_advance_pointer(inputs[argument->index], 0);
  case BURIN_ARG_OUTPUT:
    return outputs[argument->index];
  default: /* BURIN_ARG_SCRATCH */
    return (argument->row_axis == BURIN_AXIS_SEQUENCE ? run->of_sequence : run->of_one) + argument->offset;
  }
}

static inline void *describe_argument(const row_run *run, const burin_plan_argument *argument,
                                      const void *const *inputs, void *const *outputs, burin_descriptor *descriptor) {
  switch (argument->kind) {
  case BURIN_ARG_WEIGHTS:
    return burin_describe_vector(descriptor, argument->type, (void *)(uintptr_t)(run->weights + argument->offset),
                                 argument->columns);
  case BURIN_ARG_INPUT:
  case BURIN_ARG_OUTPUT:
  case BURIN_ARG_SCRATCH:
    return burin_describe_rows(descriptor, argument->type, rows_of(run, argument, inputs, outputs), argument->columns,
                               argument->rows_each);
  default:
    return burin_describe_state(descriptor, argument, run->state, run->position, run->taken);
  }
}

static int is_open(const row_run *run, const burin_plan_guard *guard, const void *const *inputs, void *const *outputs) {
  if (guard->parent >= 0 && !is_open(run, &run->entry->guards[guard->parent], inputs, outputs))
    return 0; /* first: where the parent is closed, this signal was never computed */
  const float *signal = (const float *)rows_of(run, &guard->signal, inputs, outputs);
  int open = 0;
  for (int32_t row = 0; row < guard->signal.rows_each; ++row)
    open |= signal[row] > guard->threshold;
  return open;
}

static inline burin_status run_row(row_run *run, const void *const *inputs, void *const *outputs) {
  burin_descriptor descriptors[BURIN_MAX_ARGUMENTS];
  void *arguments[BURIN_MAX_ARGUMENTS];
  void *context = &run->arena;
  for (int32_t c = 0; c < run->entry->call_count; ++c) {
    const burin_plan_call *call = &run->entry->calls[c];
    if (BURIN_UNLIKELY(call->guard >= 0) && !is_open(run, &run->entry->guards[call->guard], inputs, outputs))
      continue;
    for (int32_t i = 0; i < call->argument_count; ++i)
      arguments[i] = call->arguments[i].kind == BURIN_ARG_CONTEXT
                         ? &context
                         : describe_argument(run, &call->arguments[i], inputs, outputs, &descriptors[i]);
    burin_probe(call, 0);
    burin_status status = burin_call_kernel(call, arguments, &run->arena);
    burin_probe(call, 1);
    if (BURIN_UNLIKELY(status != BURIN_OK))
      return status;
  }
  return BURIN_OK;
}

/* Of an input or output, for each row of the stream. */
static inline size_t bytes_each(const burin_plan_tensor *tensor) {
  return burin_size(tensor->rows_each * tensor->columns * (int64_t)burin_element_bytes(tensor->type));
}

/* Everything that can be wrong with a call for `count` rows, which uses at least `scratch_used` bytes; fills `run`. */
static inline burin_status prepare(const burin_plan *plan, const burin_model *model, int32_t stream_index, void *state,
                                   void *scratch, size_t scratch_bytes, size_t scratch_used, int64_t count,
                                   const void *const *inputs, void *const *outputs, row_run *run) {
  const burin_plan_stream *stream = &plan->streams[stream_index];
  const burin_plan_entry *entry = stream->one;
  if (BURIN_UNLIKELY(!state || (!inputs && entry->input_count > 0) || (!outputs && entry->output_count > 0)))
    return BURIN_NULL_POINTER;
  if (BURIN_UNLIKELY(!burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT) ||
                     !burin_is_aligned(scratch, BURIN_BLOCK_ALIGNMENT)))
    return BURIN_MISALIGNED;

  size_t arena_bytes = burin_arena_bytes(entry);
  int64_t sequence_bytes = entry->scratch_row_bytes[BURIN_SLOT_SEQUENCE];
  size_t needed = burin_size_add(
      arena_bytes, burin_size_add(burin_size(sequence_bytes), burin_size(entry->scratch_row_bytes[BURIN_SLOT_ONE])));
  if (BURIN_UNLIKELY(!scratch && needed != 0))
    return BURIN_NULL_POINTER;
  if (BURIN_UNLIKELY(scratch_bytes < needed))
    return BURIN_SCRATCH_TOO_SMALL;
  needed = scratch_used > needed ? scratch_used : needed;

  burin_piece input_pieces[BURIN_MAX_TENSORS], output_pieces[BURIN_MAX_TENSORS];
  burin_piece working[2] = {{state, (size_t)plan->state_bytes}, {scratch, needed}};
  for (int32_t i = 0; i < entry->input_count; ++i) {
    input_pieces[i].memory = inputs[i];
    input_pieces[i].bytes = burin_size_multiply(bytes_each(&entry->inputs[i]), burin_size(count));
  }
  for (int32_t i = 0; i < entry->output_count; ++i) {
    output_pieces[i].memory = outputs[i];
    output_pieces[i].bytes = burin_size_multiply(bytes_each(&entry->outputs[i]), burin_size(count));
  }
  burin_status status =
      burin_check_pieces(input_pieces, entry->input_count, output_pieces, entry->output_count, working, 2);
  if (BURIN_UNLIKELY(status != BURIN_OK))
    return status;
  if (BURIN_UNLIKELY(burin_overlap(state, working[0].bytes, scratch, needed)))
    return BURIN_OVERLAP;

  const burin_state_header *header = (const burin_state_header *)state;
  if (BURIN_UNLIKELY(!burin_state_belongs(header, plan, run->taken)))
    return BURIN_STATE_FOREIGN;
  if (BURIN_UNLIKELY(!burin_stream_has_room(stream, header->position[stream_index], run->taken[stream_index], count)))
    return BURIN_STATE_FULL;
  status = burin_check_ids(entry, input_pieces);
  if (BURIN_UNLIKELY(status != BURIN_OK))
    return status;

  run->entry = entry;
  run->weights = model->weights;
  run->state = (unsigned char *)state;
  run->position = header->position;
  run->of_sequence = (unsigned char *)burin_advance_pointer(scratch, (int64_t)arena_bytes);
  run->of_one = (unsigned char *)burin_advance_pointer(run->of_sequence, sequence_bytes);
  burin_arena_start(&run->arena, scratch, arena_bytes);
  if (BURIN_UNLIKELY(plan->device != NULL)) {
    burin_device_memory memory = {input_pieces,        output_pieces, entry->input_count,
                                  entry->output_count, working[1],    state};
    return plan->device->begin(model->device, &memory, &run->arena.device);
  }
  return BURIN_OK;
}

/* The outputs of a GPU come back. */
static inline burin_status finish(const row_run *run, burin_status status) {
  return BURIN_LIKELY(!run->arena.device) ? status : run->arena.device->api->end(run->arena.device, status);
}

burin_status burin_rt_step(const burin_plan *plan, const burin_model *model, void *state, void *scratch,
                           size_t scratch_bytes, const void *const *inputs, void *const *outputs) {
  row_run run;
  if (BURIN_UNLIKELY(plan->stream_count == 0))
    return BURIN_NO_STEP;
  burin_status status = burin_take_plan_of(model, &plan);
  if (BURIN_UNLIKELY(status != BURIN_OK))
    return status;
  status = prepare(plan, model, 0, state, scratch, scratch_bytes, 0, 1, inputs, outputs, &run);
  if (BURIN_UNLIKELY(status != BURIN_OK))
    return status;
  const unsigned int mode = burin_enter_float_mode();
  status = run_row(&run, inputs, outputs);
  burin_leave_float_mode(mode);
  status = finish(&run, status);
  if (BURIN_LIKELY(status == BURIN_OK))
    ++((burin_state_header *)state)->position[0];
  return status;
}

/* How many of `count` rows the stream takes at once: what `many` and the scratch memory allow, or 1. */
static int64_t rows_at_once(const burin_plan_stream *stream, int64_t count, size_t scratch_bytes) {
  const burin_plan_entry *many = stream->many;
  int64_t most = many && count > stream->most_rows ? stream->most_rows : many ? count : 1;
  size_t fixed = most > 1 ? burin_stream_scratch_bytes(stream, 0) : 0;
  if (most <= 1 || fixed > scratch_bytes)
    return 1;
  size_t row_bytes =
      burin_size_add(burin_size(many->scratch_row_bytes[stream->axis]), many->uses_positions ? sizeof(int64_t) : 0);
  if (row_bytes != 0 && (scratch_bytes - fixed) / row_bytes < burin_size(most))
    most = (int64_t)((scratch_bytes - fixed) / row_bytes);
  while (most > 1 && burin_stream_scratch_bytes(stream, most) > scratch_bytes)
    --most; /* some times at most, since positions are rounded up to 64 bytes */
  return most > 1 ? most : 1;
}

static burin_status run_rows(const row_run *run, const burin_plan_stream *stream, int64_t position, int64_t rows,
                             void *scratch, const void *const *inputs, void *const *outputs) {
  burin_part part = {0};
  part.entry = stream->many;
  part.weights = run->weights;
  part.inputs = inputs;
  part.outputs = outputs;
  part.all.units[stream->axis] = rows;
  part.all.units[BURIN_SLOT_SEQUENCE] = part.all.units[BURIN_SLOT_ONE] = 1;
  part.state = run->state;
  part.position = run->position;
  part.taken = run->taken;
  part.device = run->arena.device;
  burin_lay_out_part(&part, scratch);
  if (part.entry->uses_positions)
    for (int64_t row = 0; row < rows; ++row)
      part.positions[stream->axis][row] = position + row;
  burin_status status = burin_upload_positions(&part);
  for (int32_t c = 0; c < part.entry->call_count && status == BURIN_OK; ++c)
    status = burin_run_call(&part, &part.all, &part.entry->calls[c]);
  return status;
}

burin_status burin_rt_advance(const burin_plan *plan, const burin_model *model, int32_t stream_index, void *state,
                              void *scratch, size_t scratch_bytes, int64_t count, const void *const *inputs,
                              void *const *outputs) {
  if (stream_index < 0 || stream_index >= plan->stream_count)
    return BURIN_NO_STEP;
  if (count < 0)
    return BURIN_TIME_OUT_OF_RANGE;
  burin_status status = burin_take_plan_of(model, &plan);
  if (status != BURIN_OK)
    return status;
  const burin_plan_stream *stream = &plan->streams[stream_index];
  int64_t at_once = rows_at_once(stream, count, scratch_bytes);
  size_t scratch_used = at_once > 1 ? burin_stream_scratch_bytes(stream, at_once) : 0;
  row_run run;
  status =
      prepare(plan, model, stream_index, state, scratch, scratch_bytes, scratch_used, count, inputs, outputs, &run);
  if (status != BURIN_OK)
    return status;
  const void *row_inputs[BURIN_MAX_TENSORS];
  void *row_outputs[BURIN_MAX_TENSORS];
  int64_t *position = &((burin_state_header *)state)->position[stream_index];
  const unsigned int mode = burin_enter_float_mode();
  for (int64_t done = 0, rows; done < count; done += rows) {
    rows = at_once < count - done ? at_once : count - done;
    for (int32_t i = 0; i < run.entry->input_count; ++i)
      row_inputs[i] = burin_advance_pointer(inputs[i], done * (int64_t)bytes_each(&run.entry->inputs[i]));
    for (int32_t i = 0; i < run.entry->output_count; ++i)
      row_outputs[i] = burin_advance_pointer(outputs[i], done * (int64_t)bytes_each(&run.entry->outputs[i]));
    status = rows == 1 ? run_row(&run, row_inputs, row_outputs)
                       : run_rows(&run, stream, *position, rows, scratch, row_inputs, row_outputs);
    if (status != BURIN_OK)
      break;
    *position += rows;
    run.taken[stream_index] += rows;
  }
  burin_leave_float_mode(mode);
  return finish(&run, status);
}
