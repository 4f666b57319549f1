#include "op_test.h"

using namespace burin;
using namespace burin::laws;

TEST(add, is_elementwise) {
  Graph g("op");
  TimeAxis time = g.time("time", {.max = 4});
  g.output("y", add(g.input("a", {time, 3}), g.input("b", {time, 3})));
  OpGraph("add", std::move(g))
      .expect({2}, {{1, -2, 0.5f, 3e8f, 0, 7}, {4, 2, 0.25f, 1, 0, -7}}, {{{5, 0, 0.75f}, {3e8f, 0, 0}}}, 0);
}

TEST(add, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.add %w3, %w3 : tensor<3xf32>, tensor<3xf32>"),
            "add: a has shape [3], expected [rows, features]");
}

TEST(add, refuses_unequal_shapes) {
  EXPECT_EQ(errorsOf("%y = encoder.add %x3, %x4 : !x3, !x4"),
            "add: a has shape [time <= 6, 3], b has shape [time <= 6, 4]; expected equal shapes");
  EXPECT_EQ(errorsOf("%y = encoder.add %x3, %other3 : !x3, !other3"),
            "add: a has shape [time <= 6, 3], b has shape [other <= 7, 3]; expected equal shapes");
}
