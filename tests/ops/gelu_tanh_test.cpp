#include "op_test.h"

using namespace burin;
using namespace burin::laws;

// Worked out in double precision; erf gives −0.00404969, −0.02750506 and 0.84134475 here (AMDMIGraphX#532).
TEST(gelu_tanh, is_another_op_than_gelu) {
  Graph g("op");
  g.output("y", gelu_tanh(g.input("x", {g.time("time", {.max = 4}), 3})));
  OpGraph("gelu_tanh", std::move(g))
      .expect({1}, {{-3, -2.25f, 1}}, {{{-0.00363739f, -0.02720133f, 0.84119199f}}}, 3e-7);
}

TEST(gelu_tanh, is_0_or_x_far_from_0) {
  Graph g("op");
  g.output("y", gelu_tanh(g.input("x", {g.time("time", {.max = 4}), 5})));
  OpGraph op("gelu_tanh", std::move(g));
  op.expect({1}, {{0, 12, 3e38f, 1e-30f, -0.0f}}, {{{0, 12, 3e38f, 5e-31f, 0}}}, 0);
  op.expect({1}, {{-6, -20, -3e38f, -9.9f, -10.1f}}, {{{0, 0, 0, 0, 0}}}, 1e-8);
}

TEST(gelu_tanh, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.gelu_tanh %w3 : tensor<3xf32>"),
            "gelu_tanh: x has shape [3], expected [rows, features]");
}
