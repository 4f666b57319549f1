// `step`, `advance`, `reset` and `state_read` over a hand-made plan with a tiled cache, a plain cache and a double sum.
#include "hand_made_plans.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace burin_test;

namespace {

using Floats = std::vector<float>;

class Step : public testing::Test {
protected:
  Model model = open_without_weights(step_plan);
  AlignedMemory state{size_t(step_plan.state_bytes)};
  AlignedMemory scratch{burin_rt_scratch_bytes(&step_plan, nullptr, 0)};
  size_t scratch_bytes = scratch.size();
  void *state_memory = state.data(), *scratch_memory = scratch.data();
  Floats y{-1, -1};

  void SetUp() override {
    seen = {};
    ASSERT_EQ(reset(), BURIN_OK);
  }
  burin_status reset() { return burin_rt_reset(&step_plan, model.get(), state.data(), state.size(), 0); }
  burin_status step(const void *x, void *result) {
    const void *inputs[] = {x};
    void *outputs[] = {result};
    return burin_rt_step(&step_plan, model.get(), state_memory, scratch_memory, scratch_bytes, inputs, outputs);
  }
  burin_status step(float a, float b) {
    Floats x = {a, b};
    return step(x.data(), y.data());
  }
  burin_status advance(const Floats &x, Floats &result) {
    const void *inputs[] = {x.data()};
    void *outputs[] = {result.data()};
    return burin_rt_advance(&step_plan, model.get(), 0, state_memory, scratch_memory, scratch_bytes,
                            int64_t(x.size() / 2), inputs, outputs);
  }
  // The call gives `expected`, runs no kernel, and leaves state and outputs alone.
  template <typename Call> void expect_refused(burin_status expected, Call call) {
    std::vector<unsigned char> before = state.copy();
    Floats y_before = y;
    int calls = seen.calls;
    EXPECT_EQ(call(), expected);
    EXPECT_EQ(state.copy(), before);
    EXPECT_EQ(y, y_before);
    EXPECT_EQ(seen.calls, calls);
  }
};

TEST_F(Step, continues_from_the_state) {
  EXPECT_EQ(burin_state_position(state.data()), 0);
  for (int t = 0; t < STEP_CAPACITY; ++t) {
    ASSERT_EQ(step(1, float(t)), BURIN_OK) << t;
    EXPECT_EQ(y, Floats({float(t + 1), float(t * (t + 1) / 2)}));
    EXPECT_EQ(burin_state_position(state.data()), t + 1);
  }
}

TEST_F(Step, past_the_capacity_leaves_the_state_as_before) {
  for (int t = 0; t < STEP_CAPACITY; ++t)
    ASSERT_EQ(step(1, 2), BURIN_OK);
  expect_refused(BURIN_STATE_FULL, [&] { return step(1, 2); });
  EXPECT_EQ(burin_state_position(state.data()), STEP_CAPACITY);
  Floats none;
  EXPECT_EQ(advance(none, none), BURIN_OK);
}

TEST_F(Step, advance_is_so_many_steps) {
  Floats x(12), by_step, by_advance(12);
  std::iota(x.begin(), x.end(), 1.0f);
  for (size_t t = 0; t < 6; ++t) {
    ASSERT_EQ(step(x[2 * t], x[2 * t + 1]), BURIN_OK);
    by_step.insert(by_step.end(), y.begin(), y.end());
  }
  std::vector<unsigned char> after_steps = state.copy();
  ASSERT_EQ(reset(), BURIN_OK);
  Floats first(x.begin(), x.begin() + 4), rest(x.begin() + 4, x.end()), first_y(4), rest_y(8);
  ASSERT_EQ(advance(first, first_y), BURIN_OK);
  EXPECT_EQ(burin_state_position(state.data()), 2);
  ASSERT_EQ(advance(rest, rest_y), BURIN_OK);
  first_y.insert(first_y.end(), rest_y.begin(), rest_y.end());
  EXPECT_EQ(first_y, by_step);
  EXPECT_EQ(state.copy(), after_steps);
}

TEST_F(Step, advance_checks_the_whole_call_first) {
  Floats x(14), result(14, -1.0f);
  expect_refused(BURIN_STATE_FULL, [&] { return advance(x, result); });
  EXPECT_EQ(result, Floats(14, -1.0f));
  const void *inputs[] = {x.data()};
  void *outputs[] = {x.data() + 6}; // past the first samples' inputs, within the last ones'
  expect_refused(BURIN_OVERLAP, [&] {
    return burin_rt_advance(&step_plan, model.get(), 0, state.data(), scratch.data(), scratch_bytes, 4, inputs,
                            outputs);
  });
  for (int64_t count : {int64_t(-1), INT64_MIN})
    expect_refused(BURIN_TIME_OUT_OF_RANGE, [&] {
      return burin_rt_advance(&step_plan, model.get(), 0, state.data(), scratch.data(), scratch_bytes, count, inputs,
                              outputs);
    });
  outputs[0] = result.data();
  expect_refused(BURIN_STATE_FULL, [&] {
    return burin_rt_advance(&step_plan, model.get(), 0, state.data(), scratch.data(), scratch_bytes, 7, inputs,
                            outputs);
  });
}

TEST_F(Step, advance_by_nothing_changes_nothing) {
  ASSERT_EQ(step(1, 2), BURIN_OK);
  std::vector<unsigned char> before = state.copy();
  const void *inputs[] = {nullptr};
  void *outputs[] = {nullptr};
  EXPECT_EQ(
      burin_rt_advance(&step_plan, model.get(), 0, state.data(), scratch.data(), scratch_bytes, 0, inputs, outputs),
      BURIN_OK);
  EXPECT_EQ(state.copy(), before);
}

TEST_F(Step, a_reset_state_is_a_fresh_one) {
  std::vector<unsigned char> fresh = state.copy();
  ASSERT_EQ(step(7, 8), BURIN_OK);
  ASSERT_EQ(step(9, 1), BURIN_OK);
  ASSERT_EQ(reset(), BURIN_OK);
  EXPECT_EQ(state.copy(), fresh);
  ASSERT_EQ(step(1, 2), BURIN_OK);
  EXPECT_EQ(y, Floats({1, 2}));
}

TEST_F(Step, states_do_not_disturb_one_another) {
  AlignedMemory other(state.size());
  ASSERT_EQ(burin_rt_reset(&step_plan, model.get(), other.data(), other.size(), 0), BURIN_OK);
  for (int t = 1; t <= 3; ++t) {
    state_memory = state.data();
    ASSERT_EQ(step(1, 10), BURIN_OK);
    EXPECT_EQ(y, Floats({float(t), float(10 * t)}));
    state_memory = other.data();
    ASSERT_EQ(step(2, 20), BURIN_OK);
    EXPECT_EQ(y, Floats({float(2 * t), float(20 * t)}));
  }
}

TEST_F(Step, foreign_states) {
  burin_plan other_graph = step_plan;
  other_graph.fingerprint += 1;
  Model other_model = open_without_weights(other_graph);
  ASSERT_EQ(burin_rt_reset(&other_graph, other_model.get(), state.data(), state.size(), 0), BURIN_OK);
  expect_refused(BURIN_STATE_FOREIGN, [&] { return step(1, 2); });
  std::memset(state.data(), 0, state.size());
  expect_refused(BURIN_STATE_FOREIGN, [&] { return step(1, 2); });
  EXPECT_EQ(burin_state_position(state.data()), -1);
  EXPECT_EQ(burin_state_position(nullptr), -1);
  EXPECT_EQ(burin_state_position(state.data() + 8), -1);
  ASSERT_EQ(reset(), BURIN_OK);
  model = std::move(other_model);
  expect_refused(BURIN_WEIGHTS_MISMATCH, [&] { return step(1, 2); });
  expect_refused(BURIN_WEIGHTS_MISMATCH, [&] { return reset(); });
}

TEST_F(Step, null_misaligned_and_overlapping_memory) {
  Floats x = {1, 2};
  expect_refused(BURIN_NULL_POINTER, [&] { return step(nullptr, y.data()); });
  expect_refused(BURIN_NULL_POINTER, [&] { return step(x.data(), nullptr); });
  expect_refused(BURIN_MISALIGNED, [&] { return step(reinterpret_cast<char *>(x.data()) + 1, y.data()); });
  expect_refused(BURIN_MISALIGNED, [&] { return step(x.data(), reinterpret_cast<char *>(y.data()) + 2); });
  expect_refused(BURIN_OVERLAP, [&] { return step(y.data(), y.data() + 1); });
  expect_refused(BURIN_OVERLAP, [&] { return step(state.data() + state.size() - 4, y.data()); });
  expect_refused(BURIN_OVERLAP, [&] { return step(x.data(), state.data() + 64); });
  expect_refused(BURIN_OVERLAP, [&] { return step(scratch.data(), y.data()); });
  scratch_bytes -= 1;
  expect_refused(BURIN_SCRATCH_TOO_SMALL, [&] { return step(1, 2); });
  scratch_bytes += 1;
  for (void *memory : {static_cast<void *>(nullptr), static_cast<void *>(scratch.data() + 4)}) {
    scratch_memory = memory;
    expect_refused(memory ? BURIN_MISALIGNED : BURIN_NULL_POINTER, [&] { return step(1, 2); });
  }
  scratch_memory = state.data() + 64;
  expect_refused(BURIN_OVERLAP, [&] { return step(1, 2); });
  scratch_memory = scratch.data();
  state_memory = nullptr;
  expect_refused(BURIN_NULL_POINTER, [&] { return step(1, 2); });
  state_memory = state.data() + 16;
  expect_refused(BURIN_MISALIGNED, [&] { return step(1, 2); });
  state_memory = state.data();
  model.reset();
  expect_refused(BURIN_NULL_POINTER, [&] { return step(1, 2); });
  expect_refused(BURIN_NULL_POINTER, [&] { return reset(); });
}

TEST_F(Step, reset_checks_its_memory) {
  EXPECT_EQ(burin_rt_reset(&step_plan, model.get(), nullptr, state.size(), 0), BURIN_NULL_POINTER);
  EXPECT_EQ(burin_rt_reset(&step_plan, model.get(), state.data() + 4, state.size(), 0), BURIN_MISALIGNED);
  EXPECT_EQ(burin_rt_reset(&step_plan, model.get(), state.data(), state.size() - 1, 0), BURIN_SCRATCH_TOO_SMALL);
}

TEST_F(Step, a_failed_kernel_leaves_the_position) {
  ASSERT_EQ(step(1, 2), BURIN_OK);
  seen.fail_next = true;
  EXPECT_EQ(step(1, 2), BURIN_KERNEL_FAILED);
  EXPECT_EQ(burin_state_position(state.data()), 1);
}

TEST_F(Step, without_a_bound_goes_past_the_axis) {
  burin_plan endless = step_plan;
  burin_plan_stream stream = step_plan.streams[0];
  stream.capacity = -1;
  endless.streams = &stream;
  Floats x = {0, 0};
  const void *inputs[] = {x.data()};
  void *outputs[] = {y.data()};
  auto *position = reinterpret_cast<int64_t *>(state.data() + 16);
  *position = 5;
  EXPECT_EQ(burin_rt_step(&endless, model.get(), state.data(), scratch.data(), scratch_bytes, inputs, outputs),
            BURIN_OK);
  EXPECT_EQ(burin_state_position(state.data()), 6);
}

TEST_F(Step, graphs_that_look_ahead_have_none) {
  Model rows_model = open_rows_model();
  int64_t rows = 0;
  EXPECT_EQ(burin_rt_reset(&rows_plan, rows_model.get(), state.data(), state.size(), 0), BURIN_NO_STEP);
  EXPECT_EQ(burin_rt_step(&rows_plan, rows_model.get(), nullptr, nullptr, 0, nullptr, nullptr), BURIN_NO_STEP);
  EXPECT_EQ(burin_rt_advance(&rows_plan, rows_model.get(), 0, nullptr, nullptr, 0, 1, nullptr, nullptr), BURIN_NO_STEP);
  EXPECT_EQ(burin_rt_state_read(&rows_plan, rows_model.get(), state.data(), "a", nullptr, 0, &rows), BURIN_NO_STEP);
  size_t bytes = 0;
  EXPECT_EQ(burin_rt_state_save(&rows_plan, rows_model.get(), state.data(), nullptr, 0, &bytes), BURIN_NO_STEP);
  EXPECT_EQ(burin_rt_state_load(&rows_plan, rows_model.get(), state.data(), state.size(), &bytes, 8), BURIN_NO_STEP);
}

TEST_F(Step, state_read_gives_plain_rows_of_every_layout) {
  Floats values(12, -1.0f);
  int64_t rows = -1;
  auto read = [&](const char *name, size_t capacity) {
    return burin_rt_state_read(&step_plan, model.get(), state.data(), name, values.data(), capacity, &rows);
  };
  ASSERT_EQ(read("tiled", 0), BURIN_OK);
  EXPECT_EQ(rows, 0);
  for (int t = 0; t < 5; ++t)
    ASSERT_EQ(step(float(t), float(10 * t)), BURIN_OK);
  const Floats expected = {0, 0, 1, 10, 2, 20, 3, 30, 4, 40, -1, -1};
  for (const char *name : {"tiled", "plain"}) {
    values.assign(12, -1.0f);
    ASSERT_EQ(read(name, 10), BURIN_OK) << name;
    EXPECT_EQ(rows, 5);
    EXPECT_EQ(values, expected) << name;
  }
  values.assign(12, -1.0f);
  ASSERT_EQ(read("sum", 2), BURIN_OK);
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(values[0], 10.0f);
  EXPECT_EQ(values[1], 100.0f);
  EXPECT_EQ(values[2], -1.0f);
}

TEST_F(Step, state_read_checks) {
  ASSERT_EQ(step(1, 2), BURIN_OK);
  Floats values(2, -1.0f);
  int64_t rows = -1;
  auto read = [&](const void *from, const char *name, void *to, size_t capacity) {
    return burin_rt_state_read(&step_plan, model.get(), from, name, static_cast<float *>(to), capacity, &rows);
  };
  EXPECT_EQ(read(state.data(), "tile", values.data(), 2), BURIN_NO_SUCH_STATE_VALUE);
  EXPECT_EQ(read(state.data(), "tiled", values.data(), 1), BURIN_NO_SUCH_STATE_VALUE);
  EXPECT_EQ(read(nullptr, "tiled", values.data(), 2), BURIN_NULL_POINTER);
  EXPECT_EQ(read(state.data(), nullptr, values.data(), 2), BURIN_NULL_POINTER);
  EXPECT_EQ(read(state.data(), "tiled", nullptr, 2), BURIN_NULL_POINTER);
  EXPECT_EQ(read(state.data() + 4, "tiled", values.data(), 2), BURIN_MISALIGNED);
  EXPECT_EQ(read(state.data(), "tiled", state.data() + state.size() - 8, 2), BURIN_OVERLAP);
  EXPECT_EQ(read(values.data(), "tiled", nullptr, 0),
            uintptr_t(values.data()) % 64 ? BURIN_MISALIGNED : BURIN_STATE_FOREIGN);
  EXPECT_EQ(rows, -1);
  EXPECT_EQ(values, Floats({-1, -1}));
  EXPECT_EQ(read(state.data(), "tiled", nullptr, 0), BURIN_OK); // only how many
  EXPECT_EQ(rows, 1);
  std::memset(state.data(), 0, 8);
  EXPECT_EQ(read(state.data(), "tiled", values.data(), 2), BURIN_STATE_FOREIGN);
}

} // namespace
