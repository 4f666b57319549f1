/* Where kernels allocate: the front of the caller's scratch memory, as a stack of blocks.
 *
 * Halide frees in nearly the opposite order of allocation, but not quite. A block freed while younger ones live is only
 * marked, and goes when all above it are gone; so a loop that allocates and frees in any order ends each round where it
 * began. Rejected: a free list (a search in the hot path, and a bound that the compiler could not state).
 */
#ifndef BURIN_ARENA_H
#define BURIN_ARENA_H

#include "private.h"

typedef struct burin_arena_block burin_arena_block;

/* One call's arena; lives on the stack of that call. */
typedef struct burin_arena {
  unsigned char *top;
  unsigned char *end;
  burin_arena_block *youngest;
  int failed;                       /* 1: an allocation did not fit, or a kernel reported an error */
  struct burin_device_call *device; /* where the call's kernels run on a GPU; else null */
} burin_arena;

static inline void burin_arena_start(burin_arena *arena, void *memory, size_t bytes) {
  arena->top = (unsigned char *)memory;
  arena->end = (unsigned char *)burin_advance_pointer(memory, (int64_t)bytes);
  arena->youngest = NULL;
  arena->failed = 0;
  arena->device = NULL;
}

#endif
