#include "dialect/int8.h"
#include "op_test.h"

using namespace burin;
using namespace burin::laws;

static OpGraph square(Layout layout) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 2});
  g.output("y", dense(x, parameter(g, "W", {2, 2}, Init::normal), {}, layout));
  return OpGraph("dense", std::move(g), {{"W", {1, 1, 0, 0}}});
}

// The page's W_V and x: with a square matrix, only the values tell the layouts apart (sglang-jax#1279).
TEST(dense, reads_a_weight_of_outputs_by_inputs) {
  square(Layout::out_in).expect({2}, {{1, 0, 0, 2}}, {{{1, 0}, {2, 0}}}, 0);
}

TEST(dense, reads_a_weight_of_inputs_by_outputs) {
  square(Layout::in_out).expect({2}, {{1, 0, 0, 2}}, {{{1, 1}, {0, 0}}}, 0);
}

TEST(dense, adds_the_bias_of_each_output) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 3});
  Tensor b = parameter(g, "b", {2}, Init::zeros);
  g.output("in_out", dense(x, parameter(g, "W", {3, 2}, Init::normal), b));
  Tensor other = g.input("other", {x.time(), 3});
  g.output("out_in", dense(other, parameter(g, "W_T", {2, 3}, Init::normal), b, Layout::out_in));
  // W = [[1, 4], [2, 5], [3, 6]]
  OpGraph op("dense", std::move(g), {{"W", {1, 4, 2, 5, 3, 6}}, {"W_T", {1, 2, 3, 4, 5, 6}}, {"b", {10, -10}}});
  op.expect({2}, {{1, 0, 0, 1, 1, -1}, {1, 0, 0, 1, 1, -1}}, {{{11, -6}, {10, -7}}, {{11, -6}, {10, -7}}}, 0);
  op.expect({0}, {{}, {}}, {{}, {}});
}

TEST(dense, c3_the_precision_is_known) {
  EXPECT_EQ(errorsOf("%y = encoder.dense %x3, %w3x4 {precision = \"int9\"} : !x3, tensor<3x4xf32>"),
            "dense: precision 'int9' is not known, expected float32, bf16, bf16-dot or int8");
}

// Without its largest feature, the row is −127 … 127 and nothing of it is rounded; nor are the weights.
TEST(dense, in_int8_takes_out_the_largest_feature_of_a_row) {
  HostTensor x({2, 4}), W({4, 2}), W_T({2, 4});
  x.values() = {127, -127, 10, 1e6, 0, 0, 0, 0};
  W.values() = {127, 1, -127, 1, 64, 1, 0, 127};
  W_T.values() = {127, -127, 64, 0, 1, 1, 1, 127};
  for (const HostTensor &y : {multiplyInInt8(x, W, false), multiplyInInt8(x, W_T, true)}) {
    EXPECT_NEAR(y(0, 0), 2 * 127 * 127 + 640, 0.01);
    EXPECT_NEAR(y(0, 1), 127e6 + 10, 20); // float32 has 24 bits of a scale
    EXPECT_EQ(y(1, 0), 0);
    EXPECT_EQ(y(1, 1), 0);
  }
}

// Projections of one input become one contract: each still gets its own weights and bias.
TEST(dense, keeps_its_weights_when_siblings_merge) {
  for (Layout layout : {Layout::in_out, Layout::out_in}) {
    Graph g("op");
    Tensor x = g.input("x", {g.time("time", {.max = 9}), 3});
    const char *names[] = {"q", "k", "v"};
    for (int64_t i = 0; i < 3; ++i) {
      int64_t outputs = 2 * i + 1;
      std::vector<int64_t> shape{3, outputs};
      if (layout == Layout::out_in)
        std::swap(shape[0], shape[1]);
      Tensor W = parameter(g, std::string("W_") + names[i], shape, Init::normal);
      g.output(names[i], relu(dense(x, W, parameter(g, std::string("b_") + names[i], {outputs}, Init::zeros), layout)));
    }
    OpGraph("dense", std::move(g)).expectReference({7}, 1);
  }
}

TEST(dense, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.dense %w3, %w3x4 : tensor<3xf32>, tensor<3x4xf32>"),
            "dense: x has shape [3], expected [rows, features]");
}

TEST(dense, refuses_a_weight_that_is_no_matrix) {
  EXPECT_EQ(errorsOf("%y = encoder.dense %x3, %w3 : !x3, tensor<3xf32>"),
            "dense: the weight has 1 dimensions, expected 2");
}

TEST(dense, c1_the_weight_takes_as_many_inputs_as_x_has_features) {
  EXPECT_EQ(errorsOf("%y = encoder.dense %x3, %w4x3 : !x3, tensor<4x3xf32>"),
            "dense: the weight takes 4 inputs, but x has 3 features");
  EXPECT_EQ(errorsOf("%y = encoder.dense %x3, %w3x4 out_in : !x3, tensor<3x4xf32>"),
            "dense: the weight takes 4 inputs, but x has 3 features");
}

TEST(dense, c2_the_bias_has_a_value_for_each_output) {
  EXPECT_EQ(errorsOf("%y = encoder.dense %x3, %w3x4, %w3 : !x3, tensor<3x4xf32>, tensor<3xf32>"),
            "dense: the bias has shape [3], expected [4]");
  EXPECT_EQ(errorsOf("%y = encoder.dense %x3, %w3x4, %w4x3 : !x3, tensor<3x4xf32>, tensor<4x3xf32>"),
            "dense: the bias has shape [4, 3], expected [4]");
  EXPECT_EQ(errorsOf("%y = encoder.dense %x3, %w3x4, %w4 : !x3, tensor<3x4xf32>, tensor<4xf32>"), "");
}
