/* Who works on a model's forward: its workers, and an arena for each, made when it is opened.
 *
 * The arenas lie beside the model and not in the caller's scratch memory, whose size says nothing of threads: a program
 * decides on them in one place, where it opens the model.
 */
#ifndef BURIN_TEAM_H
#define BURIN_TEAM_H

#include "arena.h"
#include "message.h"
#include "pool.h"

typedef struct burin_team {
  const burin_workers *workers;
  int32_t count;   /* of workers, when the model was opened */
  int32_t taken;   /* atomic flag: one forward at a time uses them */
  burin_pool *own; /* or null */
  burin_pool_end end_own;
  size_t arena_bytes;
  unsigned char *arenas;  /* of all workers but the first, who has the caller's scratch */
  burin_arena members[1]; /* of all workers but the first */
} burin_team;

/* What the options ask for; null where one thread is all. */
BURIN_PRIVATE burin_status burin_team_open(const burin_plan *plan, const burin_open_options *options, burin_team **team,
                                           burin_message *message);
BURIN_PRIVATE void burin_team_close(burin_team *team);
/* The team, from now on this call's, with empty arenas; null where it is none, or busy. */
BURIN_PRIVATE burin_team *burin_team_begin(burin_team *team);
BURIN_PRIVATE void burin_team_end(burin_team *team);

#endif
