/* The calls of an entry over many units; calls.h. */
#include "calls.h"

#include "state.h"

void burin_lay_out_part(burin_part *part, void *scratch) {
  const burin_plan_entry *entry = part->entry;
  size_t arena_bytes = burin_arena_bytes(entry);
  burin_arena_start(&part->arena, scratch, arena_bytes);
  part->arena.device = part->device;
  unsigned char *next = (unsigned char *)burin_advance_pointer(scratch, (int64_t)arena_bytes);
  if (entry->uses_positions)
    for (int32_t axis = 0; axis < BURIN_MAX_AXES; ++axis) {
      part->positions[axis] = (int64_t *)(void *)next;
      next = (unsigned char *)burin_advance_pointer(next, (int64_t)burin_positions_bytes(part->all.units[axis]));
    }
  for (int slot = 0; slot < BURIN_SLOTS; ++slot) {
    part->regions[slot] = next;
    next = (unsigned char *)burin_advance_pointer(next, entry->scratch_row_bytes[slot] * part->all.units[slot]);
  }
}

burin_status burin_upload_positions(const burin_part *part) {
  if (!part->device || !part->entry->uses_positions)
    return BURIN_OK;
  const unsigned char *end = part->regions[0]; /* they end where the regions begin */
  return part->device->api->upload(part->device, part->positions[0],
                                   (size_t)(end - (unsigned char *)part->positions[0]));
}

/* The first row that the view sees of an input, an output or a value in scratch. */
static void *rows_of(const burin_part *part, const burin_view *view, const burin_plan_argument *argument) {
  int slot = burin_slot(argument->row_axis);
  int64_t unit = argument->columns * argument->rows_each; /* elements */
  int64_t first = view->first[slot] * unit;
  const void *base;
  if (argument->kind == BURIN_ARG_SCRATCH) {
    base = burin_advance_pointer(part->regions[slot], argument->offset * part->all.units[slot]);
  } else {
    base = argument->kind == BURIN_ARG_INPUT ? part->inputs[argument->index] : part->outputs[argument->index];
    first += part->start[slot] * unit;
  }
  if (argument->column_axis >= 0)
    first = view->pairs_before[argument->row_axis][argument->column_axis];
  return burin_advance_pointer(base, first * (int64_t)burin_element_bytes(argument->type));
}

static void see_sequence(const burin_part *part, burin_view *view) {
  int64_t sequence = view->first[BURIN_SLOT_SEQUENCE];
  for (int32_t axis = 0; axis < part->axes; ++axis) {
    const int64_t *offset = part->offsets[axis] + sequence;
    view->first[axis] = offset[0] - part->start[axis];
    view->units[axis] = offset[1] - offset[0];
  }
}

void burin_view_first_sequence(const burin_part *part, burin_view *view) {
  *view = part->all;
  view->units[BURIN_SLOT_SEQUENCE] = 1;
  see_sequence(part, view);
}

void burin_view_next_sequence(const burin_part *part, burin_view *view) {
  for (int32_t a = 0; a < part->axes; ++a)
    for (int32_t b = 0; b < part->axes; ++b)
      view->pairs_before[a][b] += view->units[a] * view->units[b];
  ++view->first[BURIN_SLOT_SEQUENCE];
  see_sequence(part, view);
}

/* The pointer that stands for one argument. `rows_seen` collects whether any row buffer of the call has rows. */
static void *describe_argument(const burin_part *part, const burin_view *view, const burin_plan_argument *argument,
                               burin_descriptor *descriptor, int64_t *rows_seen) {
  int slot = burin_slot(argument->row_axis);
  int64_t columns = argument->columns, rows = view->units[slot] * argument->rows_each;
  switch (argument->kind) {
  case BURIN_ARG_WEIGHTS:
    return burin_describe_vector(descriptor, argument->type, (void *)(uintptr_t)(part->weights + argument->offset),
                                 columns);
  case BURIN_ARG_INPUT:
  case BURIN_ARG_OUTPUT:
  case BURIN_ARG_SCRATCH:
    *rows_seen |= rows;
    return burin_describe_rows(descriptor, argument->type, rows_of(part, view, argument),
                               argument->column_axis >= 0 ? view->units[argument->column_axis] : columns, rows);
  case BURIN_ARG_POSITIONS:
    return burin_describe_rows(descriptor, BURIN_I64, part->positions[slot] + view->first[slot], 1, view->units[slot]);
  default:
    return burin_describe_state(descriptor, argument, part->state, part->position, part->taken);
  }
}

static int is_guard_open(const burin_part *part, const burin_view *view, const burin_plan_guard *guard) {
  if (guard->parent >= 0 && !is_guard_open(part, view, &part->entry->guards[guard->parent]))
    return 0; /* first: where the parent is closed, this signal may never have been computed */
  const float *signal = (const float *)rows_of(part, view, &guard->signal);
  int64_t rows = view->units[burin_slot(guard->signal.row_axis)] * guard->signal.rows_each;
  int open = 0;
  for (int64_t row = 0; row < rows; ++row)
    open |= signal[row] > guard->threshold;
  return open;
}

int burin_is_open(const burin_part *part, const burin_view *view, const burin_plan_call *call) {
  return call->guard < 0 || is_guard_open(part, view, &part->entry->guards[call->guard]);
}

/* Describes a whole result as some rows of it, which keep their numbers. */
static void narrow_to_rows(burin_descriptor *descriptor, int64_t first, int64_t rows) {
  burin_kernel_dimension *row = &descriptor->dimensions[1];
  size_t element = descriptor->buffer.type.bits / 8u;
  descriptor->buffer.host =
      (unsigned char *)burin_advance_pointer(descriptor->buffer.host, first * row->stride * (int64_t)element);
  row->min = (int32_t)first;
  row->extent = (int32_t)rows;
}

burin_status burin_run_rows(const burin_part *part, const burin_view *view, const burin_plan_call *call,
                            burin_result_rows results, burin_arena *arena) {
  burin_descriptor descriptors[BURIN_MAX_ARGUMENTS];
  void *arguments[BURIN_MAX_ARGUMENTS];
  void *context = arena;
  int64_t rows_seen = 0;
  int are_results = 0;
  for (int32_t i = 0; i < call->argument_count; ++i) {
    const burin_plan_argument *argument = &call->arguments[i];
    if (argument->kind == BURIN_ARG_CONTEXT) {
      arguments[i] = &context;
    } else if (argument->kind == BURIN_ARG_FIRST_TILE) {
      arguments[i] = &results.first_tile;
      are_results = results.rows >= 0;
    } else {
      arguments[i] = describe_argument(part, view, argument, &descriptors[i], &rows_seen);
      if (are_results)
        narrow_to_rows(&descriptors[i], (int64_t)results.first_tile * call->split_units, results.rows);
    }
  }
  /* With no row on any side there is nothing to write; a pool over no rows still has its one result row. */
  return rows_seen == 0 ? BURIN_OK : burin_call_kernel(call, arguments, arena);
}

burin_status burin_run_call(burin_part *part, const burin_view *view, const burin_plan_call *call) {
  const burin_result_rows all = {0, -1};
  if (!burin_is_open(part, view, call))
    return BURIN_OK;
  burin_probe(call, 0);
  burin_status status = burin_run_rows(part, view, call, all, &part->arena);
  burin_probe(call, 1);
  return status;
}
