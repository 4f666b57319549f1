#include "op_test.h"

using namespace burin;
using namespace burin::laws;

static OpGraph norm(int64_t features, double eps, std::vector<float> gamma, std::vector<float> beta) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), features});
  Tensor scale = parameter(g, "gamma", {features}, Init::ones), shift = parameter(g, "beta", {features}, Init::zeros);
  g.output("y", layer_norm(x, scale, shift, eps));
  return OpGraph("layer_norm", std::move(g), {{"gamma", std::move(gamma)}, {"beta", std::move(beta)}});
}

// E[x²] − E[x]² loses every digit here (onnxruntime#28463).
TEST(layer_norm, of_large_neighbours) {
  norm(4, 1e-5, {1, 1, 1, 1}, {0, 0, 0, 0})
      .expect({1}, {{40000, 40001, 40002, 40003}}, {{{-1.341635f, -0.447212f, 0.447212f, 1.341635f}}}, 1e-6);
}

TEST(layer_norm, of_256_equal_values_is_beta) {
  std::vector<float> gamma(256, 1), beta(256);
  for (int i = 0; i < 256; ++i)
    beta[i] = 0.01f * float(i) - 1;
  OpGraph op = norm(256, 1e-5, gamma, beta);
  for (float value : {0.0f, 1.0f, -2.5f, 40000.0f, 0.1f, -3.3e7f, 1e-20f})
    op.expect({1}, {InputValues(std::vector<float>(256, value))}, {{beta}}, 0);
}

// eps is the model's own: with 1e-5 the results would be a third of these (onnxruntime#3768).
TEST(layer_norm, keeps_a_small_eps) {
  norm(4, 1e-12, {1, 1, 1, 1}, {0, 0, 0, 0})
      .expect({1}, {{0, 0.001f, 0.002f, 0.003f}}, {{{-1.341640f, -0.447213f, 0.447213f, 1.341640f}}}, 1e-6);
}

TEST(layer_norm, scales_and_shifts_each_feature) {
  norm(2, 1e-12, {2, 3}, {10, 20}).expect({2}, {{0, 2, 7, -7}}, {{{8, 23}, {12, 17}}}, 1e-6);
}

// A row of one feature is its own mean.
TEST(layer_norm, of_one_feature_is_beta) {
  norm(1, 1e-5, {3}, {0.75f}).expect({3}, {{5, -1e30f, 0}}, {{{0.75f}, {0.75f}, {0.75f}}}, 0);
}

TEST(layer_norm, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.layer_norm %w3, %w3, %w3, 1.0e-5 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>"),
            "layer_norm: x has shape [3], expected [rows, features]");
}

TEST(layer_norm, refuses_a_gamma_or_beta_of_another_width) {
  EXPECT_EQ(errorsOf("%y = encoder.layer_norm %x3, %w4, %w3, 1.0e-5 : !x3, tensor<4xf32>, tensor<3xf32>"),
            "layer_norm: gamma has shape [4], expected [3]");
  EXPECT_EQ(errorsOf("%y = encoder.layer_norm %x3, %w3, %w3x4, 1.0e-5 : !x3, tensor<3xf32>, tensor<3x4xf32>"),
            "layer_norm: beta has shape [3, 4], expected [3]");
}

TEST(layer_norm, refuses_an_eps_that_is_not_positive) {
  auto errorOf = [](std::string eps) {
    return errorsOf("%y = encoder.layer_norm %x3, %w3, %w3, " + eps + " : !x3, tensor<3xf32>, tensor<3xf32>");
  };
  EXPECT_EQ(errorOf("0.0"), "layer_norm: eps is 0, expected a positive number");
  EXPECT_EQ(errorOf("-1.0e-5"), "layer_norm: eps is -1e-05, expected a positive number");
  EXPECT_EQ(errorOf("0x7FF0000000000000"), "layer_norm: eps is inf, expected a positive number");
  EXPECT_EQ(errorOf("1.0e-12"), "");
}
