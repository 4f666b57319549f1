#include "op_test.h"

using namespace burin;
using namespace burin::laws;

TEST(dropout, is_nothing_at_inference) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 2});
  g.output("y", dropout(relu(x), 0.5));
  OpGraph("dropout", std::move(g)).expect({2}, {{1, 2, 3, -4}}, {{{1, 2}, {3, 0}}}, 0);
}

TEST(dropout, refuses_what_is_not_a_probability_below_1) {
  EXPECT_EQ(errorsOf("%y = encoder.dropout %x3, 1.0 : !x3"), "dropout: p is 1, expected 0 <= p < 1");
  EXPECT_EQ(errorsOf("%y = encoder.dropout %x3, -0.001 : !x3"), "dropout: p is -0.001, expected 0 <= p < 1");
  EXPECT_EQ(errorsOf("%y = encoder.dropout %x3, 0x7FF8000000000000 : !x3"), "dropout: p is nan, expected 0 <= p < 1");
  EXPECT_EQ(errorsOf("%y = encoder.dropout %x3, 0.999 : !x3"), "");
}
