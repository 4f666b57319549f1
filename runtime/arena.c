/* The stack of blocks behind kernels' allocations; arena.h says why it is a stack. */
#include "arena.h"

/* Stands right before the memory that it describes. */
struct burin_arena_block {
  burin_arena_block *older;
  unsigned char *older_top; /* the arena's top before this block */
  size_t freed;
};

void *burin_rt_malloc(void *user_context, size_t bytes) {
  burin_arena *arena = (burin_arena *)user_context;
  if (!arena)
    return NULL;
  size_t available = (size_t)(arena->end - arena->top);
  size_t lead = BURIN_ARENA_ALIGNMENT - ((uintptr_t)arena->top & (BURIN_ARENA_ALIGNMENT - 1));
  if (lead < sizeof(burin_arena_block)) /* only where top is no multiple of 64 */
    lead += BURIN_ARENA_ALIGNMENT;
  size_t size = BURIN_ARENA_BLOCK_BYTES(bytes) - BURIN_ARENA_ALIGNMENT;
  if (size < bytes || lead > available || size > available - lead) {
    arena->failed = 1;
    return NULL;
  }
  unsigned char *memory = arena->top + lead;
  burin_arena_block *block = (burin_arena_block *)(void *)(memory - sizeof(burin_arena_block));
  block->older = arena->youngest;
  block->older_top = arena->top;
  block->freed = 0;
  arena->youngest = block;
  arena->top = memory + size;
  return memory;
}

void burin_rt_free(void *user_context, void *pointer) {
  burin_arena *arena = (burin_arena *)user_context;
  if (!arena || !pointer)
    return;
  ((burin_arena_block *)(void *)((unsigned char *)pointer - sizeof(burin_arena_block)))->freed = 1;
  while (arena->youngest && arena->youngest->freed) {
    arena->top = arena->youngest->older_top;
    arena->youngest = arena->youngest->older;
  }
}

/* Messages are not kept: kernels are compiled without assertions, so an error here means object and runtime differ. */
void burin_rt_error(void *user_context, const char *message) {
  (void)message;
  if (user_context)
    ((burin_arena *)user_context)->failed = 1;
}
