/* Making a team, and taking it for a call; team.h. */
#include "team.h"

#include "atomic.h"
#include "scratch.h"

#include <stdlib.h>

static burin_status refuse(burin_message *message, const char *found, int64_t count, const char *expected) {
  burin_message_text(message, found);
  if (count < 0)
    burin_message_text(message, "-");
  burin_message_number(message, (size_t)(count < 0 ? -count : count));
  burin_message_text(message, expected);
  burin_message_number(message, BURIN_MOST_WORKERS);
  return BURIN_NO_WORKERS;
}

static burin_status check_options(const burin_open_options *options, burin_message *message) {
  const burin_workers *workers = options->workers;
  if (options->threads < 0 || options->threads > BURIN_MOST_WORKERS)
    return refuse(message, "threads is ", options->threads, ", expected 0 to ");
  if (!workers)
    return BURIN_OK;
  const char *wrong = options->threads > 1 ? "both threads and workers are given, expected one of them"
                      : !workers->run      ? "the workers have no function run"
                      : !workers->begin != !workers->end
                          ? "the workers have one of the functions begin and end, expected both or neither"
                          : NULL;
  if (wrong) {
    burin_message_text(message, wrong);
    return BURIN_NO_WORKERS;
  }
  if (workers->count < 1 || workers->count > BURIN_MOST_WORKERS)
    return refuse(message, "the workers' count is ", workers->count, ", expected 1 to ");
  return BURIN_OK;
}

static burin_status fail_memory(size_t bytes, burin_message *message) {
  burin_message_number(message, bytes);
  burin_message_text(message, " bytes for the workers' arenas could not be allocated");
  return BURIN_OUT_OF_MEMORY;
}

burin_status burin_team_open(const burin_plan *plan, const burin_open_options *options, burin_team **opened,
                             burin_message *message) {
  burin_status status = check_options(options, message);
  int32_t count = options->workers ? options->workers->count : options->threads;
  if (status != BURIN_OK || count < 2)
    return status;
  size_t arena_bytes = burin_arena_bytes(plan->forward), others = (size_t)count - 1;
  size_t front = burin_size_round_up(sizeof(burin_team) + others * sizeof(burin_arena)) + BURIN_BLOCK_ALIGNMENT;
  size_t bytes = burin_size_add(front, burin_size_multiply(arena_bytes, others));
  burin_team *team = bytes == SIZE_MAX ? NULL : (burin_team *)calloc(1, bytes);
  if (!team)
    return fail_memory(bytes, message);
  uintptr_t behind = (uintptr_t)team + front;
  team->arenas = (unsigned char *)(behind - (behind & (BURIN_BLOCK_ALIGNMENT - 1)));
  team->arena_bytes = arena_bytes;
  team->count = count;
  team->workers = options->workers;
  if (!team->workers) {
    team->own = burin_pool_of_model(count, &team->workers, &team->end_own);
    if (!team->own) {
      burin_message_number(message, (size_t)count);
      burin_message_text(message, " threads are asked for, and cannot be started");
      free(team);
      return BURIN_NO_WORKERS;
    }
  }
  *opened = team;
  return BURIN_OK;
}

void burin_team_close(burin_team *team) {
  if (team && team->own)
    team->end_own(team->own);
  free(team);
}

burin_team *burin_team_begin(burin_team *team) {
  if (!team || !burin_flag_take(&team->taken))
    return NULL;
  if (team->workers->begin && !team->workers->begin(team->workers->context)) {
    burin_flag_give_back(&team->taken);
    return NULL;
  }
  for (int32_t i = 0; i < team->count - 1; ++i)
    burin_arena_start(&team->members[i], burin_advance_pointer(team->arenas, (int64_t)i * (int64_t)team->arena_bytes),
                      team->arena_bytes);
  return team;
}

void burin_team_end(burin_team *team) {
  if (!team)
    return;
  if (team->workers->end)
    team->workers->end(team->workers->context);
  burin_flag_give_back(&team->taken);
}
