#include "op_test.h"

using namespace burin;
using namespace burin::laws;

// It stands in derived entries only: mean_over_time_test.cpp and first_step_test.cpp have its values.

// A result for each of several rows at once, going on from what is kept.
TEST(accumulate, goes_on_row_by_row) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 8}), 2});
  g.output("mean", mean_over_time(x));
  g.output("first", first_step(x));
  OpGraph op("accumulate", std::move(g));
  Sequence sequence{{5}, {{1, 10, 2, 20, 6, -30, -9, 4, 5, 6}}};
  const Rows means{{1, 10}, {1.5f, 15}, {3, 0}, {0, 1}, {1, 2}}, firsts(5, {1, 10});
  for (auto &[target, model] : op.models())
    for (int64_t size : {1, 2, 3, 5}) {
      Stream stream(*model, 5);
      std::vector<float> got[2];
      for (int64_t first = 0; first < 5; first += size) {
        Outputs rows = stream.advance(sequence, first, std::min(size, 5 - first));
        for (int output : {0, 1})
          llvm::append_range(got[output], rows[output]);
      }
      Case test{"accumulate", target->name.str(), "advance by " + std::to_string(size)};
      expectClose(test, got[0], flat(means), 2, 1e-7);
      expectSameBits(test, got[1], flat(firsts), 2);
    }
}

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
