#include "op_test.h"

using namespace burin;
using namespace burin::laws;

TEST(slice, is_columns_of_x) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 5});
  g.output("middle", slice(x, 1, 3));
  g.output("last", relu(slice(x, 4, 1)));
  g.output("all", relu(slice(x, 0, 5)));
  OpGraph("slice", std::move(g))
      .expect({2}, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
              {{{1, 2, 3}, {6, 7, 8}}, {{4}, {9}}, {{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}}}, 0);
}

TEST(slice, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.slice %w3[0, 1] : tensor<3xf32>"),
            "slice: x has shape [3], expected [rows, features]");
}

TEST(slice, refuses_columns_that_are_not_there) {
  EXPECT_EQ(errorsOf("%y = encoder.slice %x3[1, 3] : !x3"), "slice: columns [1, 4) of 3 features");
  EXPECT_EQ(errorsOf("%y = encoder.slice %x3[-1, 2] : !x3"), "slice: columns [-1, 1) of 3 features");
  EXPECT_EQ(errorsOf("%y = encoder.slice %x3[1, 0] : !x3"), "slice: columns [1, 1) of 3 features");
  EXPECT_NE(errorsOf("%y = encoder.slice %x3[9223372036854775807, 1] : !x3"), ""); // whatever their end is called
}
