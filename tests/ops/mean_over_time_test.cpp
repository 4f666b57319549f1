#include "op_test.h"

using namespace burin;
using namespace burin::laws;

static OpGraph mean() {
  Graph g("op");
  g.output("y", mean_over_time(g.input("x", {g.time("time", {.max = 4}), 2})));
  return OpGraph("mean_over_time", std::move(g));
}

TEST(mean_over_time, is_a_row_per_sequence) { mean().expect({3}, {{1, 10, 2, 20, 6, -30}}, {{{3, 0}}}, 1e-7); }

TEST(mean_over_time, of_no_rows_is_0) { mean().expect({0}, {{}}, {{{0, 0}}}, 0); }

TEST(mean_over_time, of_a_stream_is_that_of_the_rows_so_far) {
  mean().expectSteps(4, {{1, 10, 2, 20, 6, -30, -9, 4}}, {{{1, 10}, {1.5f, 15}, {3, 0}, {0, 1}}}, 1e-7);
}

// 1 and then many values that a float sum would lose one by one.
TEST(mean_over_time, sums_in_double) {
  const int64_t length = 4097;
  std::vector<float> x(length, 1e-8f);
  x[0] = 1;
  Graph g("op");
  g.output("y", mean_over_time(g.input("x", {g.time("time", {.max = length}), 1})));
  float expected = float((1 + 4096 * double(1e-8f)) / length);
  OpGraph op("mean_over_time", std::move(g));
  op.expect({length}, {InputValues(x)}, {{{expected}}}, 1e-10);
}

TEST(mean_over_time, refuses_what_is_not_along_time) {
  EXPECT_EQ(errorsOf("%y = encoder.mean_over_time %each : !each"),
            "mean_over_time: x has shape [sequences, 3], expected [time, features]");
  EXPECT_EQ(errorsOf("%y = encoder.mean_over_time %row : !row"),
            "mean_over_time: x has shape [1, 3], expected [time, features]");
}
