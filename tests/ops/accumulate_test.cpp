#include "op_test.h"

using namespace burin;
using namespace burin::laws;

// It stands in derived steps only: mean_over_time_test.cpp has its values.

static std::string errorOf(const std::string &combine, const std::string &finish) {
  return errorsOf("%y = encoder.accumulate %row, %position, %sum \"" + combine + "\" \"" + finish +
                  "\" : !row, !position, !sum");
}

TEST(accumulate, refuses_a_combination_that_it_does_not_know) {
  EXPECT_EQ(errorOf("multiply", "divide_by_count"), "accumulate: combine 'multiply', expected 'add' or 'first'");
  EXPECT_EQ(errorOf("add", "divide_by_count"), "");
}

TEST(accumulate, refuses_an_end_that_it_does_not_know) {
  EXPECT_EQ(errorOf("add", "nothing"), "accumulate: finish 'nothing', expected 'divide_by_count' or 'none'");
}
