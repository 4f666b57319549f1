#include "op_test.h"
#include <cmath>

using namespace burin;
using namespace burin::laws;

TEST(sinusoidal_positions, are_those_of_the_page) {
  Graph g("op");
  TimeAxis time = g.time("time", {.max = 4});
  Tensor x = g.input("x", {time, 4});
  g.output("y", sinusoidal_positions(time, 4));
  g.output("sum", add_positions(x));
  std::vector<InputValues> inputs{InputValues(std::vector<float>(16, 1))};
  const Rows page = {{0, 1, 0, 1},
                     {0.841470985f, 0.540302306f, 0.00999983333f, 0.999950000f},
                     {0.909297427f, -0.416146837f, 0.0199986667f, 0.999800007f},
                     {0.141120008f, -0.989992497f, 0.0299955002f, 0.999550034f}};
  Rows sum = page;
  for (std::vector<float> &row : sum)
    for (float &value : row)
      value += 1;
  OpGraph op("sinusoidal_positions", std::move(g));
  op.expect({4}, inputs, {page, sum}, 1e-6);
  op.expectSteps(4, inputs, {page, sum}, 1e-6);
}

// Sines of whole numbers, from the C library in double: none of them repeats.
TEST(sinusoidal_positions, do_not_lose_digits_far_from_the_start) {
  const int64_t length = 5000;
  Graph g("op");
  TimeAxis time = g.time("time", {.max = length});
  Tensor x = g.input("x", {time, 2});
  g.output("y", add(x, sinusoidal_positions(time, 2)));
  Rows expected;
  for (int64_t t = 0; t < length; ++t)
    expected.push_back({float(std::sin(double(t))), float(std::cos(double(t)))});
  OpGraph("sinusoidal_positions", std::move(g))
      .expect({length}, {InputValues(std::vector<float>(2 * length, 0))}, {expected}, 5e-7);
}

// Angles in long double, at positions that no float and no 32-bit integer holds.
TEST(sinusoidal_positions, are_right_far_from_the_start) {
  const int64_t rows = 3, features = 8, power31 = int64_t(1) << 31;
  Graph g("op");
  TimeAxis time = g.time("time", {.max = rows});
  g.output("y", add(g.input("x", {time, features}), sinusoidal_positions(time, features)));
  OpGraph op("sinusoidal_positions", std::move(g));
  Sequence zeros{{rows}, {InputValues(std::vector<float>(rows * features, 0))}};
  for (int64_t start : {int64_t(1000000), power31 - 1, power31 + 5, 4 * power31, power31 << 9}) {
    std::vector<double> expected;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < features; ++i) {
        long double angle = (long double)(start + row) / std::pow(10000.0L, (long double)(i - i % 2) / features);
        expected.push_back(double(i % 2 ? std::cos(angle) : std::sin(angle)));
      }
    for (auto &[target, model] : op.models()) {
      Stream stream(*model, rows);
      Case test{"sinusoidal_positions", target->name.str(), "steps from position " + std::to_string(start)};
      require("reset", stream.reset(start));
      std::vector<float> got;
      for (int64_t row = 0; row < rows; ++row)
        llvm::append_range(got, stream.step(zeros, row)[0]);
      expectClose(test, got, expected, features, 1e-6);
      EXPECT_EQ(stream.position(), start + rows);
      require("reset", stream.reset(start));
      test.entry = "advance from position " + std::to_string(start);
      expectClose(test, stream.advance(zeros, 0, rows)[0], expected, features, 1e-6);
    }
  }
}

TEST(sinusoidal_positions, refuse_a_number_of_features_that_is_not_even) {
  EXPECT_EQ(errorsOf("%y = encoder.sinusoidal_positions %positions, 3 : !positions"),
            "sinusoidal_positions: d_model is 3, expected an even number: sines and cosines come in pairs");
  EXPECT_EQ(errorsOf("%y = encoder.sinusoidal_positions %positions, 0 : !positions"),
            "sinusoidal_positions: d_model is 0, expected an even number: sines and cosines come in pairs");
  EXPECT_EQ(errorsOf("%y = encoder.sinusoidal_positions %positions, -2 : !positions"),
            "sinusoidal_positions: d_model is -2, expected an even number: sines and cosines come in pairs");
}
