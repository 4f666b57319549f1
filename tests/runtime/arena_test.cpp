// The arena that kernels allocate from: aligned, bounded as the plan's formula says, and the same size after every
// round of a loop, in whatever order blocks are freed.
#include "arena.h"
#include "runtime_test.h"

#include <gtest/gtest.h>

using namespace burin_test;

namespace {

struct Arena {
  AlignedMemory memory;
  burin_arena arena;
  explicit Arena(size_t bytes) : memory(bytes) { burin_arena_start(&arena, memory.data(), bytes); }
  void *allocate(size_t bytes) { return burin_rt_malloc(&arena, bytes); }
  void release(void *pointer) { burin_rt_free(&arena, pointer); }
  size_t used() const { return size_t(arena.top - memory.data()); }
};

TEST(Arena, gives_memory_at_128_byte_boundaries) {
  for (size_t start : {size_t(0), size_t(64)}) {
    AlignedMemory memory(4096 + 64);
    burin_arena arena;
    burin_arena_start(&arena, memory.data() + start, 4096);
    for (size_t bytes : {0, 1, 127, 128, 129, 1000}) {
      void *pointer = burin_rt_malloc(&arena, bytes);
      ASSERT_NE(pointer, nullptr);
      EXPECT_EQ(uintptr_t(pointer) % 128, 0u);
      std::memset(pointer, 1, bytes);
    }
  }
}

TEST(Arena, holds_what_the_formula_promises_and_not_more) {
  const size_t sizes[] = {1, 120, 121, 500, 4000};
  size_t bytes = 0;
  for (size_t size : sizes)
    bytes += BURIN_ARENA_BLOCK_BYTES(size);
  Arena arena(bytes);
  for (size_t size : sizes)
    EXPECT_NE(arena.allocate(size), nullptr) << size;
  EXPECT_FALSE(arena.arena.failed);
  EXPECT_EQ(arena.allocate(1000), nullptr);
  EXPECT_TRUE(arena.arena.failed);
}

TEST(Arena, frees_out_of_order_wait_for_the_younger_block) {
  Arena arena(4096);
  void *a = arena.allocate(100);
  void *b = arena.allocate(200);
  void *c = arena.allocate(300);
  size_t full = arena.used();
  arena.release(a);
  arena.release(b);
  EXPECT_EQ(arena.used(), full);
  arena.release(c);
  EXPECT_EQ(arena.used(), 0u);
}

TEST(Arena, loops_do_not_grow) {
  Arena arena(3 * BURIN_ARENA_BLOCK_BYTES(64));
  void *outer = arena.allocate(64);
  for (int round = 0; round < 1000; ++round) {
    void *a = arena.allocate(64);
    void *b = arena.allocate(64);
    ASSERT_TRUE(a && b) << round;
    arena.release(round % 2 ? a : b);
    arena.release(round % 2 ? b : a);
  }
  arena.release(outer);
  EXPECT_EQ(arena.used(), 0u);
}

TEST(Arena, refuses_sizes_that_wrap_around) {
  Arena arena(1024);
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX - 200), nullptr);
  EXPECT_EQ(arena.used(), 0u);
}

TEST(Arena, takes_null) {
  EXPECT_EQ(burin_rt_malloc(nullptr, 8), nullptr);
  burin_rt_free(nullptr, nullptr);
  burin_rt_error(nullptr, "message");
  Arena arena(256);
  arena.release(nullptr);
  EXPECT_FALSE(arena.arena.failed);
  burin_rt_error(&arena.arena, "message");
  EXPECT_TRUE(arena.arena.failed);
}

} // namespace
