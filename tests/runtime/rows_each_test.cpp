// Tensors of several rows for each sequence, and for the graph as a whole: in forward, a batch of parts, a step.
#include "plan_arguments.h"
#include "runtime_test.h"

#include <gtest/gtest.h>

using namespace burin_test;

namespace {

using Floats = std::vector<float>;

// forward(x [time, 1], offset [sequence: 2 rows, 3]) -> z [sequence: 2 rows, 3]
//     queries [2 rows in all, 3] = 10 row + column · h [sequence: 2 rows, 3] = queries + sum of x, per sequence
//     z = h + offset, all sequences at once, by way of a second value in scratch
enum { TIME = 0, EACH = 2, COLUMNS = 3 };

// context, queries
int fill(void **arguments) {
  View<float> queries(arguments[1]);
  if (queries.rows() != EACH)
    return 1;
  for (int r = 0; r < EACH; ++r)
    for (int c = 0; c < COLUMNS; ++c)
      queries(c, r) = float(10 * r + c);
  return 0;
}

// context, queries, x, h
int add_sum(void **arguments) {
  View<float> queries(arguments[1]), x(arguments[2]), h(arguments[3]);
  if (queries.rows() != EACH || h.rows() != EACH)
    return 1;
  float sum = 0;
  for (int r = 0; r < x.rows(); ++r)
    sum += x(0, r);
  for (int r = 0; r < EACH; ++r)
    for (int c = 0; c < COLUMNS; ++c)
      h(c, r) = queries(c, r) + sum;
  return 0;
}

// context, h, offset, z
int add(void **arguments) {
  View<float> h(arguments[1]), offset(arguments[2]), z(arguments[3]);
  if (h.rows() != offset.rows() || h.rows() != z.rows())
    return 1;
  for (int r = 0; r < h.rows(); ++r)
    for (int c = 0; c < COLUMNS; ++c)
      z(c, r) = h(c, r) + offset(c, r);
  return 0;
}

// context, from, to
int copy(void **arguments) {
  View<float> from(arguments[1]), to(arguments[2]);
  for (int r = 0; r < to.rows(); ++r)
    for (int c = 0; c < COLUMNS; ++c)
      to(c, r) = from(c, r);
  return from.rows() == to.rows() ? 0 : 1;
}

struct Entry {
  burin_plan_argument fill_arguments[2] = {context_argument(), scratch_rows(ONE, COLUMNS, 0, EACH)};
  burin_plan_argument sum_arguments[4];
  burin_plan_argument add_arguments[4] = {context_argument(), scratch_rows(SEQUENCE, COLUMNS, 0, EACH),
                                          input(1, SEQUENCE, COLUMNS, EACH), scratch_rows(SEQUENCE, COLUMNS, 64, EACH)};
  burin_plan_argument copy_arguments[3] = {context_argument(), scratch_rows(SEQUENCE, COLUMNS, 64, EACH),
                                           output(0, SEQUENCE, COLUMNS, EACH)};
  burin_plan_call calls[4] = {call(fill, "fill", fill_arguments), call(add_sum, "add_sum", sum_arguments, 1),
                              call(add, "add", add_arguments), call(copy, "copy", copy_arguments)};
  burin_plan_tensor inputs[2];
  burin_plan_tensor outputs[1] = {tensor("z", SEQUENCE, COLUMNS, EACH)};
  burin_plan_entry made = entry(calls, inputs, outputs);

  explicit Entry(int32_t axis)
      : sum_arguments{context_argument(), scratch_rows(ONE, COLUMNS, 0, EACH), input(0, axis, 1),
                      scratch_rows(SEQUENCE, COLUMNS, 0, EACH)},
        inputs{tensor("x", axis, 1), tensor("offset", SEQUENCE, COLUMNS, EACH)} {
    made.scratch_row_bytes[4] = 128;
    made.scratch_row_bytes[5] = 64;
  }
  Entry(const Entry &) = delete;
};

class RowsEach : public testing::Test {
protected:
  Entry rows{TIME}, one{ONE};
  burin_plan_stream stream = {"time", &one.made, nullptr, TIME, 1, -1, -1};
  burin_plan_axis axis = {"time", 8};
  burin_plan plan = {};
  Model model;

  RowsEach() {
    plan.version = BURIN_PLAN_VERSION;
    plan.name = "rows_each";
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
  }
  static Floats offsets_for(size_t sequences) {
    Floats values(sequences * EACH * COLUMNS);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(1000 * i);
    return values;
  }
  static Floats expected(const Floats &sums) {
    Floats z = offsets_for(sums.size());
    for (size_t i = 0; i < z.size(); ++i)
      z[i] += sums[i / (EACH * COLUMNS)] + float(10 * (i / COLUMNS % EACH) + i % COLUMNS);
    return z;
  }
};

TEST_F(RowsEach, a_sequence_and_a_batch) {
  AlignedMemory scratch(64 + 128);
  int64_t length[] = {3};
  EXPECT_EQ(burin_rt_scratch_bytes(&plan, length, 1), scratch.size());
  Floats x = {1, 2, 4}, offset = offsets_for(1), z(6, -1.0f);
  const void *inputs[] = {x.data(), offset.data()};
  void *outputs[] = {z.data()};
  ASSERT_EQ(burin_rt_forward(&plan, model.get(), scratch.data(), scratch.size(), length, inputs, outputs), BURIN_OK);
  EXPECT_EQ(z, expected({7}));
}

TEST_F(RowsEach, a_batch_of_several_parts) {
  const size_t sequences = 100; // of 0 to 8 rows: about 400 in all
  std::vector<int64_t> offsets = {0};
  Floats x, sums;
  for (size_t s = 0; s < sequences; ++s) {
    offsets.push_back(offsets.back() + int64_t(s * 5 % 9));
    sums.push_back(0);
    for (int64_t row = offsets[s]; row < offsets[s + 1]; ++row) {
      x.push_back(float(row % 7));
      sums.back() += x.back();
    }
  }
  ASSERT_GT(offsets.back(), 256);
  const int64_t *offset_arrays[] = {offsets.data()};
  AlignedMemory scratch(burin_rt_scratch_bytes(&plan, &offsets.back(), sequences));
  EXPECT_EQ(scratch.size(), 64 + 128 * sequences);
  Floats offset = offsets_for(sequences), z(offset.size(), -1.0f);
  const void *inputs[] = {x.data(), offset.data()};
  void *outputs[] = {z.data()};
  ASSERT_EQ(burin_rt_forward_batch(&plan, model.get(), scratch.data(), scratch.size(), sequences, offset_arrays, inputs,
                                   outputs),
            BURIN_OK);
  EXPECT_EQ(z, expected(sums));
}

TEST_F(RowsEach, a_step_gives_all_of_them_and_advance_as_many_for_each_row) {
  AlignedMemory scratch(64 + 128), state(size_t(plan.state_bytes));
  ASSERT_EQ(burin_rt_reset(&plan, model.get(), state.data(), state.size(), 0), BURIN_OK);
  Floats x = {5, 6, 7}, offset = offsets_for(3), z(18, -1.0f);
  const void *inputs[] = {x.data(), offset.data()};
  void *outputs[] = {z.data()};
  ASSERT_EQ(burin_rt_step(&plan, model.get(), state.data(), scratch.data(), scratch.size(), inputs, outputs), BURIN_OK);
  EXPECT_EQ(Floats(z.begin(), z.begin() + 6), expected({5}));
  EXPECT_EQ(Floats(z.begin() + 6, z.end()), Floats(12, -1.0f));
  ASSERT_EQ(burin_rt_advance(&plan, model.get(), 0, state.data(), scratch.data(), scratch.size(), 3, inputs, outputs),
            BURIN_OK);
  EXPECT_EQ(z, expected({5, 6, 7}));
}

// The last rows of each sequence count where buffers must not overlap.
TEST_F(RowsEach, overlaps_are_found_in_every_row) {
  AlignedMemory scratch(64 + 128), state(size_t(plan.state_bytes));
  ASSERT_EQ(burin_rt_reset(&plan, model.get(), state.data(), state.size(), 0), BURIN_OK);
  Floats x = {5}, tensors(12);
  const void *inputs[] = {x.data(), tensors.data()};
  void *outputs[] = {tensors.data() + 5};
  int64_t length[] = {1};
  EXPECT_EQ(burin_rt_forward(&plan, model.get(), scratch.data(), scratch.size(), length, inputs, outputs),
            BURIN_OVERLAP);
  EXPECT_EQ(burin_rt_step(&plan, model.get(), state.data(), scratch.data(), scratch.size(), inputs, outputs),
            BURIN_OVERLAP);
  outputs[0] = tensors.data() + 6;
  EXPECT_EQ(burin_rt_forward(&plan, model.get(), scratch.data(), scratch.size(), length, inputs, outputs), BURIN_OK);
}

// Kernels index with 32 bits, and every row of a sequence counts.
TEST_F(RowsEach, more_elements_than_kernels_index) {
  const int32_t each = 100000; // of 3 columns: 7158 sequences have 2^31 elements
  for (burin_plan_argument *argument : {&rows.add_arguments[1], &rows.add_arguments[2], &rows.add_arguments[3]})
    argument->rows_each = each;
  std::vector<int64_t> offsets(7200, 0);
  const int64_t *offset_arrays[] = {offsets.data()};
  float x = 0;
  const void *inputs[] = {&x, &x};
  void *outputs[] = {&x};
  AlignedMemory scratch(64);
  for (int64_t sequences : {7157, 7159})
    EXPECT_EQ(burin_rt_forward_batch(&plan, model.get(), scratch.data(), scratch.size(), sequences, offset_arrays,
                                     inputs, outputs),
              sequences == 7157 ? BURIN_SCRATCH_TOO_SMALL : BURIN_TIME_OUT_OF_RANGE);
}

} // namespace
