#include "op_test.h"

using namespace burin;
using namespace burin::laws;

TEST(relu, is_the_larger_of_x_and_0) {
  Graph g("op");
  g.output("y", relu(g.input("x", {g.time("time", {.max = 4}), 5})));
  OpGraph("relu", std::move(g)).expect({1}, {{-1, 1e-30f, 0, -3e38f, 3e38f}}, {{{0, 1e-30f, 0, 0, 3e38f}}}, 0);
}

TEST(relu, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.relu %w3 : tensor<3xf32>"), "relu: x has shape [3], expected [rows, features]");
}
