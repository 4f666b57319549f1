#include "op_test.h"
#include <cmath>

using namespace burin;
using namespace burin::laws;

TEST(gelu, is_the_form_by_erf) {
  Graph g("op");
  g.output("y", gelu(g.input("x", {g.time("time", {.max = 4}), 3})));
  OpGraph("gelu", std::move(g)).expect({1}, {{-3, -2.25f, 1}}, {{{-0.00404969f, -0.02750506f, 0.84134475f}}}, 3e-7);
}

TEST(gelu, is_0_or_x_far_from_0) {
  Graph g("op");
  g.output("y", gelu(g.input("x", {g.time("time", {.max = 4}), 5})));
  OpGraph op("gelu", std::move(g));
  op.expect({1}, {{0, 7, 3e38f, 1e-30f, -0.0f}}, {{{0, 7, 3e38f, 5e-31f, 0}}}, 0);
  op.expect({1}, {{-6, -20, -3e38f, -5.5f, -5.6f}}, {{{0, 0, 0, 0, 0}}}, 2e-7);
}

// Every value that matters, against erf in double precision.
TEST(gelu, is_within_4e_7_of_its_value) {
  const int64_t count = 4001;
  std::vector<float> x(count);
  for (int64_t i = 0; i < count; ++i)
    x[i] = float(i - 2000) * 0.004f;
  Graph g("op");
  g.output("y", gelu(g.input("x", {g.time("time", {.max = 1}), count})));
  OpGraph op("gelu", std::move(g));
  Rows expected(1);
  for (float value : x)
    expected[0].push_back(float(0.5 * value * std::erfc(-value * std::sqrt(0.5))));
  op.expect({1}, {InputValues(x)}, {expected}, 4e-7);
}

TEST(gelu, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.gelu %w3 : tensor<3xf32>"), "gelu: x has shape [3], expected [rows, features]");
}
