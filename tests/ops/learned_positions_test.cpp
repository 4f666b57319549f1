#include "op_test.h"

using namespace burin;
using namespace burin::laws;

static OpGraph positions(int64_t longest) {
  Graph g("op");
  TimeAxis time = g.time("time", {.max = longest});
  Tensor x = g.input("x", {time, 3}), table = parameter(g, "P", {4, 3}, Init::positions);
  g.output("y", add(x, learned_positions(time, table)));
  return OpGraph("learned_positions", std::move(g), {{"P", {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}}});
}

TEST(learned_positions, are_the_first_rows_of_the_table) {
  positions(4).expect({2}, {{0, 0, 0, 0, 0, 0}}, {{{0, 1, 2}, {10, 11, 12}}}, 0);
}

// The same sample at every step, and yet step t takes row t (mlx-lm#93).
TEST(learned_positions, of_step_t_are_row_t) {
  const std::vector<float> same{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
  OpGraph op = positions(4);
  const Rows rows = {{5, 6, 7}, {15, 16, 17}, {25, 26, 27}, {35, 36, 37}};
  op.expectSteps(4, {InputValues(same)}, {rows}, 0);
  op.expect({4}, {InputValues(same)}, {rows}, 0);
}

TEST(learned_positions, end_a_stream_by_a_status) {
  OpGraph op = positions(4);
  Sequence sequence{{5}, {InputValues(std::vector<float>(15, 1))}};
  for (auto &[target, model] : op.models()) {
    Stream stream(*model);
    for (int64_t row = 0; row < 4; ++row)
      stream.step(sequence, row);
    stream.feed(sequence, 4);
    EXPECT_EQ(stream.step(), BURIN_STATE_FULL) << target->name.str() << "\nrerun: " << rerunCommand();
    EXPECT_EQ(stream.position(), 4);
  }
}

TEST(learned_positions, of_a_stream_begin_where_it_is_reset_to) {
  OpGraph op = positions(4);
  Sequence sequence{{2}, {InputValues(std::vector<float>(6, 5))}};
  for (auto &[target, model] : op.models()) {
    Stream stream(*model, 2);
    Case test{"learned_positions", target->name.str(), "steps from position 2"};
    require("reset", stream.reset(2));
    expectSameBits(test, stream.step(sequence, 0)[0], {25, 26, 27}, 3);
    expectSameBits(test, stream.step(sequence, 1)[0], {35, 36, 37}, 3);
    EXPECT_EQ(stream.step(), BURIN_STATE_FULL) << target->name.str() << "\nrerun: " << rerunCommand();
    require("reset", stream.reset(4)); // its end
    EXPECT_EQ(stream.step(), BURIN_STATE_FULL) << target->name.str() << "\nrerun: " << rerunCommand();
    EXPECT_EQ(stream.reset(5), BURIN_TIME_OUT_OF_RANGE) << target->name.str() << "\nrerun: " << rerunCommand();
  }
}

TEST(learned_positions, refuse_a_table_that_is_no_matrix) {
  EXPECT_EQ(errorsOf("%y = encoder.learned_positions %positions, %w4 : !positions, tensor<4xf32>"),
            "learned_positions: the table has shape [4], expected [max_len, d_model]");
}

TEST(learned_positions, refuse_a_time_that_outlasts_the_table) {
  EXPECT_EQ(errorsOf("%y = encoder.learned_positions %positions, %w5x3 : !positions, tensor<5x3xf32>"),
            "learned_positions: time can reach 6, but the table has 5 rows");
}
