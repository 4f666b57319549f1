// Guards: a call with one is made only where some row that it sees is open, in a batch, a part, a sequence and a step.
#include "plan_arguments.h"
#include "runtime_test.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace burin_test;

namespace {

using Floats = std::vector<float>;

// forward(s [time, 1]) -> copied [time, 1], marks [time, 4]
//     copied = s, in scratch too · marks = 1 in column k of the rows that call k saw:
//     0: all rows, where s > 0.5 · 1: per sequence, likewise · 2: per sequence, where scratch > -100 and s > 0.5
//     3: all rows, where copied > 2.5
// The same as `one` and `many` of a stream.
enum { CALLS = 4, TIME = 0 };

// context, s, scratch, copied, marks
int copy_and_clear(void **arguments) {
  View<float> s(arguments[1]), scratch(arguments[2]), copied(arguments[3]), marks(arguments[4]);
  for (int r = 0; r < s.rows(); ++r) {
    scratch(0, r) = copied(0, r) = s(0, r);
    for (int k = 0; k < CALLS; ++k)
      marks(k, r) = 0;
  }
  return 0;
}

int kernel_calls = 0;

// context, marks
template <int k> int mark(void **arguments) {
  View<float> marks(arguments[1]);
  for (int r = 0; r < marks.rows(); ++r)
    marks(k, r) = 1;
  ++kernel_calls;
  return 0;
}

struct Entry {
  burin_plan_argument copy_arguments[5], mark_arguments[2];
  burin_plan_guard guards[3];
  burin_plan_call calls[5];
  burin_plan_tensor inputs[1], outputs[2];
  burin_plan_entry made;

  explicit Entry(int32_t axis)
      : copy_arguments{context_argument(), input(0, axis, 1), scratch_rows(axis, 1, 0), output(0, axis, 1),
                       output(1, axis, CALLS)},
        mark_arguments{context_argument(), output(1, axis, CALLS)}, guards{{input(0, axis, 1), 0.5f, -1},
                                                                           {scratch_rows(axis, 1, 0), -100.0f, 0},
                                                                           {output(0, axis, 1), 2.5f, -1}},
        calls{call(copy_and_clear, "copy", copy_arguments), call(mark<0>, "all", mark_arguments, 0, 0),
              call(mark<1>, "each", mark_arguments, 1, 0), call(mark<2>, "nested", mark_arguments, 1, 1),
              call(mark<3>, "copied", mark_arguments, 0, 2)},
        inputs{tensor("s", axis, 1)}, outputs{tensor("copied", axis, 1), tensor("marks", axis, CALLS)},
        made(entry(calls, inputs, outputs)) {
    made.guards = guards;
    made.guard_count = 3;
    made.scratch_row_bytes[axis == ONE ? 5 : axis] = 64;
  }
  Entry(const Entry &) = delete;
};

class Guards : public testing::Test {
protected:
  Entry rows{TIME}, one{ONE};
  burin_plan_stream stream = {"time", &one.made, &rows.made, TIME, 8, -1, -1};
  burin_plan_axis axis = {"time", 256};
  burin_plan plan = {};
  Model model;

  Guards() {
    plan.version = BURIN_PLAN_VERSION;
    plan.name = "guards";
    plan.target = "generic";
    plan.forward = &rows.made;
    plan.axes = &axis;
    plan.axis_count = 1;
    plan.streams = &stream;
    plan.stream_count = 1;
    plan.state_bytes = BURIN_STATE_HEADER_BYTES;
    burin_open_options options = {};
    burin_model *opened = nullptr;
    burin_rt_open(&plan, &options, &opened);
    model.reset(opened);
    kernel_calls = 0;
  }

  // The marks of each row as a number: "1101" where calls 0, 1 and 3 saw it.
  static std::vector<std::string> marks_of(const Floats &marks) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < marks.size(); i += CALLS) {
      std::string text;
      for (size_t k = 0; k < CALLS; ++k)
        text += marks[i + k] == 1 ? '1' : '0';
      texts.push_back(text);
    }
    return texts;
  }
  std::vector<std::string> batch(const std::vector<int64_t> &offsets, const Floats &s) {
    int64_t rows_in_all[] = {offsets.back()}, sequences = int64_t(offsets.size()) - 1;
    const int64_t *offset_arrays[] = {offsets.data()};
    AlignedMemory scratch(burin_rt_scratch_bytes(&plan, rows_in_all, sequences));
    Floats copied(s.size()), marks(s.size() * CALLS, -1.0f);
    const void *inputs[] = {s.data()};
    void *outputs[] = {copied.data(), marks.data()};
    kernel_calls = 0;
    EXPECT_EQ(burin_rt_forward_batch(&plan, model.get(), scratch.data(), scratch.size(), sequences, offset_arrays,
                                     inputs, outputs),
              BURIN_OK);
    return marks_of(marks);
  }
  std::vector<std::string> advance(const Floats &s) {
    int64_t rows_in_all[] = {int64_t(s.size())};
    AlignedMemory scratch(burin_rt_scratch_bytes(&plan, rows_in_all, 1)), state(size_t(plan.state_bytes));
    EXPECT_EQ(burin_rt_reset(&plan, model.get(), state.data(), state.size(), 0), BURIN_OK);
    Floats copied(s.size()), marks(s.size() * CALLS, -1.0f);
    const void *inputs[] = {s.data()};
    void *outputs[] = {copied.data(), marks.data()};
    kernel_calls = 0;
    EXPECT_EQ(burin_rt_advance(&plan, model.get(), 0, state.data(), scratch.data(), scratch.size(), int64_t(s.size()),
                               inputs, outputs),
              BURIN_OK);
    return marks_of(marks);
  }
};

using Texts = std::vector<std::string>;
constexpr float nan = NAN, infinity = INFINITY;

TEST_F(Guards, where_all_are_closed_no_guarded_kernel_runs) {
  EXPECT_EQ(batch({0, 2, 2, 4}, {0.5f, 0, -1, -infinity}), Texts({"0000", "0000", "0000", "0000"}));
  EXPECT_EQ(kernel_calls, 0);
  EXPECT_EQ(advance({0.5f, 0, -1}), Texts({"0000", "0000", "0000"}));
  EXPECT_EQ(advance({0.5f}), Texts({"0000"}));
  EXPECT_EQ(kernel_calls, 0);
}

TEST_F(Guards, one_open_row_opens_the_call_for_what_it_sees) {
  EXPECT_EQ(batch({0, 2, 4, 4, 5}, {0, 0, 0, 1, 0}), Texts({"1000", "1000", "1110", "1110", "1000"}));
  EXPECT_EQ(kernel_calls, 3);
  EXPECT_EQ(batch({0, 1, 3}, {3, 0, 0}), Texts({"1111", "1001", "1001"}));
  EXPECT_EQ(advance({0, 1, 0}), Texts({"1110", "1110", "1110"})); // the rows of a stream are one sequence
  EXPECT_EQ(advance({3}), Texts({"1111"}));
}

TEST_F(Guards, the_threshold_itself_is_closed_and_what_is_not_a_number_too) {
  EXPECT_EQ(batch({0, 1, 2}, {nan, nan}), Texts({"0000", "0000"}));
  EXPECT_EQ(batch({0, 1, 2}, {nan, infinity}), Texts({"1001", "1111"}));
  EXPECT_EQ(advance({nan}), Texts({"0000"}));
  EXPECT_EQ(advance({nan, nan}), Texts({"0000", "0000"}));
  EXPECT_EQ(advance({std::nextafter(0.5f, 1.0f)}), Texts({"1110"}));
}

TEST_F(Guards, parts_of_a_batch_open_by_themselves) {
  std::vector<int64_t> offsets = {0, 200, 400, 600};
  Floats s(600, 0.0f);
  s[450] = 1;
  Texts marks = batch(offsets, s);
  for (size_t row = 0; row < 600; ++row)
    EXPECT_EQ(marks[row], row < 400 ? "0000" : "1110") << row;
}

// A sequence is open where one of several rows of its signal is.
TEST_F(Guards, signals_of_several_rows_for_each_sequence) {
  const burin_plan_tensor inputs_of_both[] = {tensor("s", TIME, 1), tensor("signal", SEQUENCE, 1, 3)};
  rows.made.inputs = inputs_of_both;
  rows.made.input_count = 2;
  for (burin_plan_guard &guard : rows.guards)
    guard = {input(1, SEQUENCE, 1, 3), 0.5f, -1};
  const int64_t offsets[] = {0, 1, 2, 3}, in_all[] = {3};
  const int64_t *offset_arrays[] = {offsets};
  AlignedMemory scratch(burin_rt_scratch_bytes(&plan, in_all, 3));
  for (size_t open = 0; open < 10; ++open) { // 9: none
    Floats s(3), signal(10, 0.0f), copied(3), marks(3 * CALLS);
    signal[open] = 1;
    const void *inputs[] = {s.data(), signal.data()};
    void *outputs[] = {copied.data(), marks.data()};
    ASSERT_EQ(
        burin_rt_forward_batch(&plan, model.get(), scratch.data(), scratch.size(), 3, offset_arrays, inputs, outputs),
        BURIN_OK);
    Texts expected(3, open < 9 ? "1001" : "0000");
    if (open < 9)
      expected[open / 3] = "1111";
    EXPECT_EQ(marks_of(marks), expected) << open;
  }
}

// A step reads a signal of several rows whole.
TEST_F(Guards, signals_of_several_rows_in_a_step) {
  burin_plan_argument signal = input(0, ONE, 1, 3);
  for (burin_plan_guard &guard : one.guards)
    guard = {signal, 0.5f, -1};
  one.inputs[0].rows_each = 3;
  AlignedMemory scratch(64), state(size_t(plan.state_bytes));
  ASSERT_EQ(burin_rt_reset(&plan, model.get(), state.data(), state.size(), 0), BURIN_OK);
  for (int open = 0; open < 4; ++open) { // 3: none
    Floats s(4, 0.0f), copied(1), marks(CALLS);
    s[size_t(open)] = 1;
    const void *inputs[] = {s.data()};
    void *outputs[] = {copied.data(), marks.data()};
    ASSERT_EQ(burin_rt_step(&plan, model.get(), state.data(), scratch.data(), scratch.size(), inputs, outputs),
              BURIN_OK);
    EXPECT_EQ(marks_of(marks), Texts({open < 3 ? "1111" : "0000"})) << open;
  }
}

} // namespace
