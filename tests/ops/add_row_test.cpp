#include "op_test.h"

using namespace burin;
using namespace burin::laws;

TEST(add_row, adds_one_row_of_the_table_to_every_row) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 2}), table = parameter(g, "P", {2, 2}, Init::normal);
  g.output("y", add_row(x, table, 1));
  OpGraph op("add_row", std::move(g), {{"P", {1000, 1000, 10, 20}}});
  op.expect({2}, {{1, 2, 3, 4}}, {{{11, 22}, {13, 24}}}, 0);
  op.expectSteps(2, {{1, 2, 3, 4}}, {{{11, 22}, {13, 24}}}, 0);
}

TEST(add_row, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.add_row %w3, %w5x3[0] : tensor<3xf32>, tensor<5x3xf32>"),
            "add_row: x has shape [3], expected [rows, features]");
}

TEST(add_row, refuses_a_table_of_another_width) {
  EXPECT_EQ(errorsOf("%y = encoder.add_row %x3, %w3x4[0] : !x3, tensor<3x4xf32>"),
            "add_row: the table has shape [3, 4], expected [rows of the table, 3]");
  EXPECT_EQ(errorsOf("%y = encoder.add_row %x3, %w3[0] : !x3, tensor<3xf32>"),
            "add_row: the table has shape [3], expected [rows of the table, 3]");
}

TEST(add_row, refuses_a_row_outside_the_table) {
  EXPECT_EQ(errorsOf("%y = encoder.add_row %x3, %w5x3[5] : !x3, tensor<5x3xf32>"),
            "add_row: row 5 of a table with 5 rows");
  EXPECT_EQ(errorsOf("%y = encoder.add_row %x3, %w5x3[-1] : !x3, tensor<5x3xf32>"),
            "add_row: row -1 of a table with 5 rows");
}
