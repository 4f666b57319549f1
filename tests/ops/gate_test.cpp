#include "op_test.h"
#include <cmath>
#include <limits>

using namespace burin;
using namespace burin::laws;

static const float notANumber = std::nanf(""), infinity = std::numeric_limits<float>::infinity();

/// x + 2 z where the signal is above the threshold.
static OpGraph gated(double threshold) {
  Graph g("op");
  TimeAxis time = g.time("time", {.max = 8});
  Tensor x = g.input("x", {time, 2}), z = g.input("z", {time, 2}), signal = g.input("signal", {time, 1});
  g.output("y", gate(x, signal, threshold, [&] { return add(z, z); }));
  return OpGraph("gate", std::move(g));
}

TEST(gate, adds_where_the_signal_is_above_the_threshold) {
  OpGraph op = gated(0.25);
  const std::vector<InputValues> inputs{{1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60}, {0.26f, 0.25f, -9}};
  op.expect({3}, inputs, {{{21, 42}, {3, 4}, {5, 6}}}, 0);
  op.expectSteps(3, inputs, {{{21, 42}, {3, 4}, {5, 6}}}, 0);
}

// A threshold is a float, as signals are: what equals it is closed, also where the decimal number is no float.
TEST(gate, is_closed_at_the_threshold) {
  OpGraph op = gated(0.1);
  const std::vector<InputValues> inputs{{1, 2, 3, 4}, {10, 20, 30, 40}, {0.1f, std::nextafterf(0.1f, 1)}};
  op.expect({2}, inputs, {{{1, 2}, {63, 84}}}, 0);
  op.expectSteps(2, inputs, {{{1, 2}, {63, 84}}}, 0);
}

TEST(gate, is_closed_where_the_signal_is_not_a_number) {
  OpGraph op = gated(-1);
  const std::vector<InputValues> inputs{
      {1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60}, {notANumber, infinity, -infinity}};
  op.expect({3}, inputs, {{{1, 2}, {63, 84}, {5, 6}}}, 0);
  op.expectSteps(3, inputs, {{{1, 2}, {63, 84}, {5, 6}}}, 0);
}

// A select, not a product: what is not added may be anything, and the sign of a zero stays.
TEST(gate, leaves_closed_rows_as_they_are) {
  OpGraph op = gated(0);
  Sequence sequence{{3},
                    {{-0.0f, 1e-42f, 3e38f, -0.0f, 1, 2}, {notANumber, infinity, -infinity, 3e38f, 1, 2}, {0, -1, 1}}};
  for (auto &[target, model] : op.models()) {
    Case test{"gate", target->name.str(), "forward"};
    expectSameBits(test, forward(*model, sequence)[0], {-0.0f, 1e-42f, 3e38f, -0.0f, 3, 6}, 2);
    test.entry = "advance";
    expectSameBits(test, Stream(*model, 3).advance(sequence, 0, 3)[0], {-0.0f, 1e-42f, 3e38f, -0.0f, 3, 6}, 2);
  }
}

static std::string errorOf(const std::string &x, const std::string &signal, const std::string &types,
                           const std::string &threshold = "0.5", const std::string &update = "%x3 : !x3") {
  return errorsOf("%y = encoder.gate " + x + ", " + signal + " above " + threshold + " {\nencoder.yield " + update +
                  "\n} : " + types);
}

TEST(gate, refuses_what_is_not_rows) {
  EXPECT_EQ(errorOf("%w3", "%signal", "tensor<3xf32>, !signal"), "gate: x has shape [3], expected [rows, features]");
}

TEST(gate, refuses_signals_that_are_not_one_for_each_row) {
  EXPECT_EQ(errorOf("%x3", "%signal", "!x3, !signal"), "");
  EXPECT_EQ(errorOf("%x3", "%x3", "!x3, !x3"),
            "gate: the signal has shape [time <= 6, 3], expected [time <= 6, 1]: one value for each row of x");
  EXPECT_EQ(errorOf("%other3", "%signal", "!other3, !signal", "0.5", "%other3 : !other3"),
            "gate: the signal has shape [time <= 6, 1], expected [other <= 7, 1]: one value for each row of x");
}

TEST(gate, refuses_a_threshold_that_is_not_a_number) {
  EXPECT_EQ(errorOf("%x3", "%signal", "!x3, !signal", "0x7FF8000000000000"), "gate: the threshold is not a number");
  EXPECT_EQ(errorOf("%x3", "%signal", "!x3, !signal", "-3.0e+38"), "");
}

TEST(gate, refuses_an_update_of_another_shape) {
  EXPECT_EQ(errorOf("%x3", "%signal", "!x3, !signal", "0.5", "%x4 : !x4"),
            "'encoder.gate' op yields an update of shape [time <= 6, 4], expected x's shape [time <= 6, 3]");
}
