// After opening, no call allocates: the allocator of this whole program counts.
#include "hand_made_plans.h"
#include "split_plans.h"

#include <atomic>
#include <cstdio>
#include <gtest/gtest.h>

using namespace burin_test;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATOR_IS_TAKEN
#endif
#endif
#else
#define ALLOCATOR_IS_TAKEN
#endif

#ifndef ALLOCATOR_IS_TAKEN
namespace {
std::atomic<long> allocations{0};
std::atomic<size_t> largest{0};

void count(size_t bytes) {
  ++allocations;
  if (bytes > largest)
    largest = bytes;
}
} // namespace

extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t items, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void __libc_free(void *memory);
void *malloc(size_t bytes) {
  count(bytes);
  return __libc_malloc(bytes);
}
void *calloc(size_t items, size_t bytes) {
  count(items * bytes);
  return __libc_calloc(items, bytes);
}
void *realloc(void *memory, size_t bytes) {
  count(bytes);
  return __libc_realloc(memory, bytes);
}
void free(void *memory) {
  ++allocations;
  __libc_free(memory);
}
}

TEST(Allocation, none_after_open) {
  long at_start = allocations;
  Model rows_model = open_rows_model(), step_model = open_without_weights(step_plan);
  EXPECT_GT(allocations, at_start); // the counter counts

  const int64_t offsets[] = {0, 3, 3, 4}, total[] = {4};
  const int64_t *offset_arrays[] = {offsets};
  AlignedMemory scratch(burin_rt_scratch_bytes(&rows_plan, total, 3)), state(size_t(step_plan.state_bytes));
  float x[8] = {}, mean[6], placed[8], y[2], values[12];
  const void *inputs[] = {x};
  void *outputs[] = {mean, placed}, *step_outputs[] = {y};
  int64_t rows = 0, one_length[] = {4};
  unsigned char saved[512];
  size_t bytes = 0;
  burin_status statuses[9];

  long before = allocations;
  statuses[0] = burin_rt_forward_batch(&rows_plan, rows_model.get(), scratch.data(), scratch.size(), 3, offset_arrays,
                                       inputs, outputs);
  statuses[1] =
      burin_rt_forward(&rows_plan, rows_model.get(), scratch.data(), scratch.size(), one_length, inputs, outputs);
  statuses[2] = burin_rt_reset(&step_plan, step_model.get(), state.data(), state.size(), 0);
  statuses[3] =
      burin_rt_step(&step_plan, step_model.get(), state.data(), scratch.data(), scratch.size(), inputs, step_outputs);
  statuses[4] = burin_rt_advance(&step_plan, step_model.get(), 0, state.data(), scratch.data(), scratch.size(), 2,
                                 inputs, outputs);
  statuses[5] = burin_rt_state_read(&step_plan, step_model.get(), state.data(), "tiled", values, 12, &rows);
  statuses[6] = burin_rt_step(&step_plan, step_model.get(), state.data(), nullptr, 0, inputs, step_outputs);
  statuses[7] = burin_rt_state_save(&step_plan, step_model.get(), state.data(), saved, sizeof saved, &bytes);
  statuses[8] = burin_rt_state_load(&step_plan, step_model.get(), state.data(), state.size(), saved, bytes);
  long after = allocations;

  EXPECT_EQ(after, before);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(statuses[i], i == 6 ? BURIN_NULL_POINTER : BURIN_OK) << i;
}

// Nor does one that shares its work among threads; what kernels write down is allocated here before.
TEST(Allocation, none_after_open_with_threads) {
  burin_open_options options = {};
  options.threads = 3;
  Model model = open_with(split_plan, options).model;
  SplitBatch batch({64, 13}, {64, 5});
  ASSERT_EQ(batch.run(model.get()), BURIN_OK); // threads have what they need to begin with
  split_seen.stretches.reserve(1000);
  long before = allocations;
  burin_status status = batch.run(model.get());
  long after = allocations;
  EXPECT_EQ(status, BURIN_OK);
  EXPECT_EQ(after, before);
}

// The weights of a packed file are the file's pages: opening it takes as little memory however large they are.
TEST(Allocation, a_packed_file_takes_none_for_its_weights) {
  const int64_t count = 1 << 20;
  const burin_plan_parameter parameters[] = {{"table", 1, 0, {count, 1}}};
  const burin_plan_segment segments[] = {{0, BURIN_PACK_VECTOR, 0, 0, 0, 0, 0}};
  burin_plan plan = rows_plan;
  plan.parameters = parameters;
  plan.segments = segments;
  plan.weights_bytes = count * 4;
  const std::string bytes = std::to_string(count * 4), path = testing::TempDir() + "burin_large_packed_file";
  const std::string file = file_with(R"({"table":{"dtype":"F32","shape":[)" + std::to_string(count) +
                                         R"(],"data_offsets":[0,)" + bytes + "]}}",
                                     std::string(size_t(count) * 4, '\1'));
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  ASSERT_EQ(burin_rt_pack(&plan, &options, path.c_str(), nullptr), BURIN_OK);

  burin_model *models[2] = {};
  options = {};
  options.weights_path = path.c_str();
  options.verify_content = 1;
  largest = 0;
  for (burin_model *&model : models)
    EXPECT_EQ(burin_rt_open(&plan, &options, &model), BURIN_OK);
  EXPECT_LT(largest, 1024u);
  for (burin_model *model : models)
    burin_rt_close(model);
  std::remove(path.c_str());
}

// Whatever a file says of itself, reading it takes memory in proportion to the bytes that are there.
TEST(Allocation, a_file_cannot_ask_for_much) {
  const std::string many(100000, '{');
  const std::string files[] = {
      std::string(8, '\xFF') + "{}", file_with("{\"" + many + "\":1}"), file_with("{" + many),
      file_with(R"({"factor":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}})"),
      file_with(R"({"other":{"dtype":"F32","shape":[0,9223372036854775807],"data_offsets":[0,0]}})")};
  for (const std::string &file : files) {
    largest = 0;
    burin_open_options options = {};
    options.weights = file.data();
    options.weights_bytes = file.size();
    burin_model *model = nullptr;
    EXPECT_NE(burin_rt_open(&rows_plan, &options, &model), BURIN_OK);
    EXPECT_LT(largest, 4 * file.size() + 1024);
  }
}
#else
TEST(Allocation, none_after_open) { GTEST_SKIP() << "the allocator belongs to a sanitizer, or is not glibc's"; }
#endif
