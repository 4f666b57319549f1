#include "op_test.h"

using namespace burin;
using namespace burin::laws;

static OpGraph first() {
  Graph g("op");
  g.output("y", first_step(g.input("x", {g.time("time", {.max = 4}), 2})));
  return OpGraph("first_step", std::move(g));
}

TEST(first_step, is_a_row_per_sequence) { first().expect({3}, {{1, -0.5f, 2, 20, 6, -30}}, {{{1, -0.5f}}}, 0); }

TEST(first_step, of_no_rows_is_0) { first().expect({0}, {{}}, {{{0, 0}}}, 0); }

TEST(first_step, of_a_stream_stays_its_first_row) {
  first().expectSteps(3, {{1, 10, 2, 20, 6, -30}}, {{{1, 10}, {1, 10}, {1, 10}}}, 0);
}

TEST(first_step, refuses_what_is_not_along_time) {
  EXPECT_EQ(errorsOf("%y = encoder.first_step %each : !each"),
            "first_step: x has shape [sequences, 3], expected [time, features]");
}
