/* `step` and `advance`: one sample, or several, continuing from a state. All checks stand before the first kernel; the
 * position in the state moves after the last. Every value has one row, so that nothing here counts rows.
 */
#include "call.h"
#include "scratch.h"

typedef struct step_run {
  const burin_plan_entry *entry;
  const unsigned char *weights;
  unsigned char *state;
  unsigned char *regions[BURIN_SLOTS];
  int64_t position;
  burin_arena arena;
} step_run;

static inline void *describe_argument(step_run *run, const burin_plan_argument *argument, const void *const *inputs,
                                      void *const *outputs, burin_descriptor *descriptor) {
  int64_t columns = argument->columns;
  unsigned char *host;
  switch (argument->kind) {
  case BURIN_ARG_WEIGHTS:
    return burin_describe_vector(descriptor, BURIN_F32, (void *)(uintptr_t)(run->weights + argument->offset), columns);
  case BURIN_ARG_INPUT:
    host = (unsigned char *)burin_advance_pointer(inputs[argument->index], 0);
    break;
  case BURIN_ARG_OUTPUT:
    host = (unsigned char *)outputs[argument->index];
    break;
  case BURIN_ARG_SCRATCH:
    host = run->regions[burin_slot(argument->row_axis)] + argument->offset;
    break;
  case BURIN_ARG_POSITION:
    return &run->position;
  case BURIN_ARG_STATE:
    return burin_describe_vector(descriptor, argument->type, run->state + argument->offset, columns);
  case BURIN_ARG_STATE_ROW: {
    int64_t element = (int64_t)burin_element_bytes(argument->type), tile = argument->tile;
    int64_t place = tile == 0 ? run->position * columns : run->position / tile * tile * columns + run->position % tile;
    burin_describe_rows(descriptor, argument->type, run->state + argument->offset + place * element, columns, 1);
    descriptor->dimensions[0].stride = tile == 0 ? 1 : (int32_t)tile;
    return &descriptor->buffer;
  }
  default: /* positions of many rows do not occur in step */
    return NULL;
  }
  return burin_describe_rows(descriptor, argument->type, host, columns, 1);
}

static inline burin_status run_sample(step_run *run, const void *const *inputs, void *const *outputs) {
  burin_descriptor descriptors[BURIN_MAX_ARGUMENTS];
  void *arguments[BURIN_MAX_ARGUMENTS];
  void *context = &run->arena;
  for (int32_t c = 0; c < run->entry->call_count; ++c) {
    const burin_plan_call *call = &run->entry->calls[c];
    for (int32_t i = 0; i < call->argument_count; ++i)
      arguments[i] = call->arguments[i].kind == BURIN_ARG_CONTEXT
                         ? &context
                         : describe_argument(run, &call->arguments[i], inputs, outputs, &descriptors[i]);
    if (BURIN_UNLIKELY(burin_call_kernel(call, arguments, &run->arena) != BURIN_OK))
      return BURIN_KERNEL_FAILED;
  }
  return BURIN_OK;
}

/* Everything that can be wrong with a call for `count` samples; fills `run`. */
static inline burin_status prepare(const burin_plan *plan, const burin_model *model, void *state, void *scratch,
                                   size_t scratch_bytes, int64_t count, const void *const *inputs, void *const *outputs,
                                   step_run *run) {
  const burin_plan_entry *entry = plan->step;
  if (BURIN_UNLIKELY(!entry))
    return BURIN_NO_STEP;
  if (BURIN_UNLIKELY(!model || !state || (!inputs && entry->input_count > 0) || (!outputs && entry->output_count > 0)))
    return BURIN_NULL_POINTER;
  if (BURIN_UNLIKELY(!burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT) ||
                     !burin_is_aligned(scratch, BURIN_BLOCK_ALIGNMENT)))
    return BURIN_MISALIGNED;
  if (BURIN_UNLIKELY(model->fingerprint != plan->fingerprint))
    return BURIN_WEIGHTS_MISMATCH;

  size_t needed = burin_arena_bytes(entry);
  unsigned char *next = (unsigned char *)burin_advance_pointer(scratch, (int64_t)needed);
  for (int slot = 0; slot < BURIN_SLOTS; ++slot) {
    run->regions[slot] = next;
    next = (unsigned char *)burin_advance_pointer(next, entry->scratch_row_bytes[slot]);
  }
  needed = (size_t)((uintptr_t)next - (uintptr_t)scratch);
  if (BURIN_UNLIKELY(!scratch && needed != 0))
    return BURIN_NULL_POINTER;
  if (BURIN_UNLIKELY(scratch_bytes < needed))
    return BURIN_SCRATCH_TOO_SMALL;

  burin_piece input_pieces[BURIN_MAX_TENSORS], output_pieces[BURIN_MAX_TENSORS];
  burin_piece working[2] = {{state, (size_t)plan->state_bytes}, {scratch, needed}};
  for (int32_t i = 0; i < entry->input_count; ++i) {
    const burin_plan_tensor *tensor = &entry->inputs[i];
    input_pieces[i].memory = inputs[i];
    input_pieces[i].bytes =
        burin_size_multiply((size_t)tensor->columns * burin_element_bytes(tensor->type), (size_t)count);
  }
  for (int32_t i = 0; i < entry->output_count; ++i) {
    const burin_plan_tensor *tensor = &entry->outputs[i];
    output_pieces[i].memory = outputs[i];
    output_pieces[i].bytes =
        burin_size_multiply((size_t)tensor->columns * burin_element_bytes(tensor->type), (size_t)count);
  }
  burin_status status =
      burin_check_pieces(input_pieces, entry->input_count, output_pieces, entry->output_count, working, 2);
  if (BURIN_UNLIKELY(status != BURIN_OK))
    return status;
  if (BURIN_UNLIKELY(burin_overlap(state, working[0].bytes, scratch, needed)))
    return BURIN_OVERLAP;

  const burin_state_header *header = (const burin_state_header *)state;
  if (BURIN_UNLIKELY(header->magic != BURIN_STATE_MAGIC || header->fingerprint != plan->fingerprint ||
                     header->position < 0))
    return BURIN_STATE_FOREIGN;
  int64_t capacity = plan->step_axis >= 0 ? plan->axes[plan->step_axis].maximum : INT64_MAX;
  if (BURIN_UNLIKELY(header->position > capacity || count > capacity - header->position))
    return BURIN_STATE_FULL;
  status = burin_check_ids(entry, input_pieces);
  if (BURIN_UNLIKELY(status != BURIN_OK))
    return status;

  run->entry = entry;
  run->weights = model->weights;
  run->state = (unsigned char *)state;
  run->position = header->position;
  burin_arena_start(&run->arena, scratch, burin_arena_bytes(entry));
  return BURIN_OK;
}

burin_status burin_rt_step(const burin_plan *plan, const burin_model *model, void *state, void *scratch,
                           size_t scratch_bytes, const void *const *inputs, void *const *outputs) {
  step_run run;
  burin_status status = prepare(plan, model, state, scratch, scratch_bytes, 1, inputs, outputs, &run);
  if (BURIN_UNLIKELY(status != BURIN_OK))
    return status;
  status = run_sample(&run, inputs, outputs);
  if (BURIN_LIKELY(status == BURIN_OK))
    ((burin_state_header *)state)->position = run.position + 1;
  return status;
}

burin_status burin_rt_advance(const burin_plan *plan, const burin_model *model, void *state, void *scratch,
                              size_t scratch_bytes, int64_t count, const void *const *inputs, void *const *outputs) {
  if (count < 0)
    return plan->step ? BURIN_TIME_OUT_OF_RANGE : BURIN_NO_STEP;
  step_run run;
  burin_status status = prepare(plan, model, state, scratch, scratch_bytes, count, inputs, outputs, &run);
  if (status != BURIN_OK)
    return status;
  const void *sample_inputs[BURIN_MAX_TENSORS];
  void *sample_outputs[BURIN_MAX_TENSORS];
  for (int64_t sample = 0; sample < count; ++sample, ++run.position) {
    for (int32_t i = 0; i < run.entry->input_count; ++i) {
      const burin_plan_tensor *tensor = &run.entry->inputs[i];
      int64_t bytes = tensor->columns * (int64_t)burin_element_bytes(tensor->type);
      sample_inputs[i] = burin_advance_pointer(inputs[i], sample * bytes);
    }
    for (int32_t i = 0; i < run.entry->output_count; ++i) {
      const burin_plan_tensor *tensor = &run.entry->outputs[i];
      int64_t bytes = tensor->columns * (int64_t)burin_element_bytes(tensor->type);
      sample_outputs[i] = burin_advance_pointer(outputs[i], sample * bytes);
    }
    status = run_sample(&run, sample_inputs, sample_outputs);
    if (status != BURIN_OK)
      return status;
  }
  ((burin_state_header *)state)->position = run.position;
  return BURIN_OK;
}
