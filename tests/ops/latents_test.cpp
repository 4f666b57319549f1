#include "op_test.h"

using namespace burin;
using namespace burin::laws;

/// Two latent queries read x.
static OpGraph reading() {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 2}), table = parameter(g, "L", {2, 2}, Init::normal);
  g.output("y", attention(latents(table), x, x, {.heads = 1}));
  return OpGraph("latents", std::move(g), {{"L", {1, 0, 0, 2}}});
}

TEST(latents, are_queries_of_every_sequence) {
  OpGraph op = reading();
  op.expect({2}, {{1, 0, 0, 2}}, {{{0.669762f, 0.660477f}, {0.055807f, 1.888385f}}}, 1e-6);
  op.expect({1}, {{5, -7}}, {{{5, -7}, {5, -7}}}, 0); // one key has weight 1
  op.expect({0}, {{}}, {{{0, 0}, {0, 0}}}, 0);
}

TEST(latents, are_the_same_in_each_sequence_of_a_batch) {
  OpGraph op = reading();
  for (auto &[target, model] : op.models()) {
    std::vector<Outputs> got = forwardBatch(*model, {{{1}, {{5, -7}}}, {{0}, {{}}}, {{1}, {{2, 3}}}});
    Case test{"latents", target->name.str(), "forward_batch"};
    expectSameBits(test, got[0][0], {5, -7, 5, -7}, 2);
    expectSameBits(test, got[1][0], {0, 0, 0, 0}, 2);
    expectSameBits(test, got[2][0], {2, 3, 2, 3}, 2);
  }
}

// Every step gives all of them, for the rows so far.
TEST(latents, of_a_stream_read_the_rows_so_far) {
  reading().expectSteps(2, {{1, 0, 0, 2}}, {{{1, 0}, {1, 0}, {0.669762f, 0.660477f}, {0.055807f, 1.888385f}}}, 1e-6);
}

TEST(latents, may_be_keys_and_values) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 2});
  Tensor keys = latents(parameter(g, "K", {2, 2}, Init::normal)),
         values = latents(parameter(g, "V", {2, 1}, Init::normal));
  g.output("y", attention(x, keys, values, {.heads = 1}));
  OpGraph op("latents", std::move(g), {{"K", {1, 0, 0, 2}}, {"V", {0, 1}}});
  const Rows expected{{1 - 0.669762f}, {0.944193f}, {0.5f}};
  op.expect({3}, {{1, 0, 0, 2, 0, 0}}, {expected}, 1e-6);
  op.expectSteps(3, {{1, 0, 0, 2, 0, 0}}, {expected}, 1e-6);
}

TEST(latents, refuse_a_table_that_is_no_matrix) {
  EXPECT_EQ(errorsOf("%y = encoder.latents %w3 : tensor<3xf32>"),
            "latents: the table has shape [3], expected [rows, features]");
  EXPECT_EQ(errorsOf("%y = encoder.latents %w5x3 : tensor<5x3xf32>"), "");
}
