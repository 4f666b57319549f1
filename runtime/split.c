/* How a call is split; split.h. */
#include "split.h"

#include "atomic.h"
#include "float_mode.h"

/* Tiles of a call that looks along time are claimed in parts of what is left: one for each worker, and as many again,
 * so that the last claims are small. */
enum { CLAIMS_OF_WORKER = 2 };

typedef struct split {
  burin_part *part;
  const burin_plan_call *call;
  burin_team *team;
  int32_t tasks;
  int32_t by_queries; /* units are tiles of queries; otherwise sequences */
  int64_t units;      /* tiles of rows, or what is claimed */
  int64_t claimed;    /* atomic */
} split;

static int64_t tiles_of(int64_t rows, int64_t tile) { return (rows + tile - 1) / tile; }

static burin_arena *arena_of(const split *run, int32_t index) {
  return index == 0 ? &run->part->arena : &run->team->members[index - 1];
}

static void fail(burin_arena *arena, burin_status status) { arena->failed |= status != BURIN_OK; }

/* ---- Row-wise calls ---- */

static void run_stretch(void *data, int32_t index) {
  const split *run = (const split *)data;
  const burin_result_rows whole = {0, -1};
  int slot = burin_slot(run->call->split_axis);
  int64_t tile = run->call->split_units, rows = run->part->all.units[slot];
  int64_t first = run->units * index / run->tasks * tile, end = run->units * (index + 1) / run->tasks * tile;
  burin_view view = run->part->all;
  view.first[slot] = first;
  view.units[slot] = (end < rows ? end : rows) - first;
  burin_arena *arena = arena_of(run, index);
  const unsigned int mode = burin_enter_float_mode();
  fail(arena, burin_run_rows(run->part, &view, run->call, whole, arena));
  burin_leave_float_mode(mode);
}

/* ---- Calls that look along time ---- */

static int has_first_tile(const burin_plan_call *call) { return call->split_axis >= 0; }

/* The symbol whose rows are looked at: another one than that of the results, where there is one. */
static int32_t axis_looked_at(const burin_plan_call *call) {
  for (int32_t i = 0; i < call->argument_count; ++i) {
    const burin_plan_argument *argument = &call->arguments[i];
    int is_buffer = argument->kind >= BURIN_ARG_INPUT && argument->kind <= BURIN_ARG_SCRATCH;
    if (is_buffer && argument->row_axis >= 0 && argument->row_axis != call->split_axis)
      return argument->row_axis;
  }
  return call->split_axis;
}

static int64_t units_of_sequence(const split *run, const burin_view *view) {
  return run->by_queries ? tiles_of(view->units[run->call->split_axis], run->call->split_units) : 1;
}

/* The view's sequence, or the queries' tiles [first, end) of it. */
static burin_status run_units(const split *run, const burin_view *view, int64_t first, int64_t end,
                              burin_arena *arena) {
  burin_result_rows results = {0, -1};
  if (!burin_is_open(run->part, view, run->call))
    return BURIN_OK;
  if (run->by_queries) {
    int64_t tile = run->call->split_units, rows = view->units[run->call->split_axis];
    results.first_tile = (int32_t)first;
    results.rows = (end * tile < rows ? end * tile : rows) - first * tile;
  }
  return burin_run_rows(run->part, view, run->call, results, arena);
}

/* Units are numbered through all sequences. A sequence's tiles are counted from its end: where queries look back, the
 * last have most to do, and large claims come first. */
static void run_claims(void *data, int32_t index) {
  split *run = (split *)data;
  burin_arena *arena = arena_of(run, index);
  burin_view view;
  burin_view_first_sequence(run->part, &view);
  int64_t before = 0, own = units_of_sequence(run, &view); /* units before this sequence, and its own */
  int64_t first, end;
  const unsigned int mode = burin_enter_float_mode();
  while (burin_claim_units(&run->claimed, run->units, (int64_t)run->tasks * CLAIMS_OF_WORKER, &first, &end))
    while (first < end) {
      while (first >= before + own) {
        before += own;
        burin_view_next_sequence(run->part, &view);
        own = units_of_sequence(run, &view);
      }
      int64_t stop = end < before + own ? end : before + own;
      fail(arena, run_units(run, &view, before + own - stop, before + own - first, arena));
      first = stop;
    }
  burin_leave_float_mode(mode);
}

static burin_status run_each_sequence(burin_part *part, const burin_plan_call *call) {
  burin_status status = BURIN_OK;
  burin_view view;
  for (int64_t sequence = 0; sequence < part->all.units[BURIN_SLOT_SEQUENCE] && status == BURIN_OK; ++sequence) {
    if (sequence == 0)
      burin_view_first_sequence(part, &view);
    else
      burin_view_next_sequence(part, &view);
    status = burin_run_call(part, &view, call);
  }
  return status;
}

/* ---- Both ---- */

/* Counts units and chooses how many tasks they are worth: 1 where none but the caller's thread. */
static void choose_tasks(split *run) {
  const burin_part *part = run->part;
  const burin_plan_call *call = run->call;
  double work = 0; /* sums of products of sizes may be beyond 64 bits */
  if (call->per_sequence) {
    int32_t looked_at = burin_slot(axis_looked_at(call)), slot = burin_slot(call->split_axis);
    run->by_queries = has_first_tile(call);
    burin_view view;
    burin_view_first_sequence(part, &view);
    for (int64_t sequence = 0; sequence < part->all.units[BURIN_SLOT_SEQUENCE]; ++sequence) {
      if (sequence > 0)
        burin_view_next_sequence(part, &view);
      run->units += units_of_sequence(run, &view);
      work += (double)view.units[slot] * (double)view.units[looked_at] * (double)call->work;
    }
  } else {
    int64_t rows = run->part->all.units[burin_slot(call->split_axis)];
    run->units = tiles_of(rows, call->split_units);
    work = (double)rows * (double)call->work;
  }
  int64_t tasks = run->team->count < run->units ? run->team->count : run->units;
  double least = (double)part->worker_work; /* may be 0, in plans of tests: any work is worth a worker */
  run->tasks = work < least * (double)tasks ? (int32_t)(work / least) : (int32_t)tasks;
}

static burin_status run_alone(burin_part *part, const burin_plan_call *call) {
  /* One sequence is all of the part. */
  if (call->per_sequence && part->all.units[BURIN_SLOT_SEQUENCE] != 1)
    return run_each_sequence(part, call);
  return burin_run_call(part, &part->all, call);
}

burin_status burin_run_split(burin_part *part, burin_team *team, const burin_plan_call *call) {
  if (!team || call->split_units == 0)
    return run_alone(part, call);
  split run = {0};
  run.part = part;
  run.call = call;
  run.team = team;
  choose_tasks(&run);
  if (run.tasks < 2)
    return run_alone(part, call);
  if (!call->per_sequence && !burin_is_open(part, &part->all, call))
    return BURIN_OK;
  burin_probe(call, 0);
  team->workers->run(team->workers->context, call->per_sequence ? run_claims : run_stretch, &run, run.tasks);
  burin_probe(call, 1);
  int failed = 0;
  for (int32_t index = 0; index < run.tasks; ++index)
    failed |= arena_of(&run, index)->failed;
  return failed ? BURIN_KERNEL_FAILED : BURIN_OK;
}

int burin_is_worth_splitting(const burin_plan *plan, const burin_plan_entry *entry, const int64_t *units) {
  double all = 0;
  for (int32_t c = 0; c < entry->call_count; ++c) {
    const burin_plan_call *call = &entry->calls[c];
    double work = (double)call->work * (double)units[burin_slot(call->split_axis)];
    if (call->per_sequence) /* at most: all rows as one sequence */
      work *= (double)units[burin_slot(axis_looked_at(call))];
    if (call->split_units > 0 && work >= 2.0 * (double)plan->worker_work)
      all += work;
  }
  return all >= (double)plan->entry_work;
}
