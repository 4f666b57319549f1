#include "op_test.h"

using namespace burin;
using namespace burin::laws;

static OpGraph normalize(int64_t features) {
  Graph g("op");
  g.output("y", l2_normalize(g.input("x", {g.time("time", {.max = 4}), features})));
  return OpGraph("l2_normalize", std::move(g));
}

TEST(l2_normalize, gives_rows_of_length_1) {
  normalize(2).expect({3}, {{3, 4, -5, 12, 0, 1e-6f}}, {{{0.6f, 0.8f}, {-5 / 13.0f, 12 / 13.0f}, {0, 1}}}, 1e-6);
}

TEST(l2_normalize, leaves_a_row_of_zeros) {
  normalize(3).expect({2}, {{0, 0, 0, 0, 0, -2}}, {{{0, 0, 0}, {0, 0, -1}}}, 1e-7);
}

// Squares of such values are denormal in part: with the caller's flush-to-zero mode they would be 0.
TEST(l2_normalize, of_a_row_shorter_than_1e_15_is_0) {
  normalize(2).expect({3}, {{3e-20f, 4e-20f, 1e-16f, 0, 3e-14f, 4e-14f}}, {{{0, 0}, {0, 0}, {0.6f, 0.8f}}}, 1e-6);
}

// What a batch with an empty sequence asks for.
TEST(l2_normalize, of_the_mean_of_no_rows_is_0) {
  Graph g("op");
  g.output("y", l2_normalize(mean_over_time(g.input("x", {g.time("time", {.max = 4}), 2}))));
  OpGraph("l2_normalize", std::move(g)).expect({0}, {{}}, {{{0, 0}}}, 0);
}

TEST(l2_normalize, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.l2_normalize %w3 : tensor<3xf32>"),
            "l2_normalize: x has shape [3], expected [rows, features]");
}
