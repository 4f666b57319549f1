#include "op_test.h"
#include <cmath>
#include <limits>

using namespace burin;
using namespace burin::laws;

// ---- A2: the page's two samples, with weights as PyTorch keeps them. W_O is the identity.

static const std::vector<float> samples{1, 0, 0, 2};
static const Weights pageWeights{
    {"W_Q", {0, 1, 1, 1}}, {"W_K", {0, 1, 1, 0}}, {"W_V", {1, 1, 0, 0}}, {"W_O", {1, 0, 0, 1}}};

static OpGraph page(bool causal, bool masked = false, Layout layoutOfValues = Layout::out_in) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 2}), 2});
  Tensor mask = masked ? g.mask("mask", {x.time(), x.time()}) : Tensor();
  auto project = [&](Tensor rows, const char *name, Layout layout) {
    return dense(rows, parameter(g, name, {2, 2}, Init::normal), {}, layout);
  };
  Tensor q = project(x, "W_Q", Layout::out_in), k = project(x, "W_K", Layout::out_in),
         v = project(x, "W_V", layoutOfValues);
  g.output("y", project(attention(q, k, v, {.heads = 1, .causal = causal, .mask = mask}), "W_O", Layout::out_in));
  return OpGraph("attention", std::move(g), pageWeights);
}

TEST(attention, of_the_page) {
  page(false).expect({2}, {InputValues(samples)}, {{{1.330238f, 0}, {1.804430f, 0}}}, 1e-6);
}

TEST(attention, of_the_page_causal) {
  OpGraph op = page(true);
  op.expect({2}, {InputValues(samples)}, {{{1, 0}, {1.804430f, 0}}}, 1e-6);
  op.expectSteps(2, {InputValues(samples)}, {{{1, 0}, {1.804430f, 0}}}, 1e-6);
}

TEST(attention, of_the_page_masked) {
  OpGraph op = page(false, true);
  using Mask = std::vector<uint8_t>;
  op.expect({2}, {InputValues(samples), InputValues(Mask{1, 0, 1, 0})}, {{{1, 0}, {1, 0}}}, 1e-6);
  op.expect({2}, {InputValues(samples), InputValues(Mask{0, 1, 0, 1})}, {{{2, 0}, {2, 0}}}, 1e-6);
  op.expect({2}, {InputValues(samples), InputValues(Mask{1, 1, 1, 1})}, {{{1.330238f, 0}, {1.804430f, 0}}}, 1e-6);
}

// With a square matrix only the values tell the layouts apart (sglang-jax#1279).
TEST(attention, of_the_page_with_values_transposed_differs) {
  page(false, false, Layout::in_out)
      .expect({2}, {InputValues(samples)}, {{{0.669762f, 0.669762f}, {0.195570f, 0.195570f}}}, 1e-6);
}

// ---- Queries, keys and values as they are

struct Sizes {
  int64_t queries, keys, d_k, d_v;
};

static OpGraph plain(Sizes sizes, AttentionOptions options, bool masked = false) {
  Graph g("op");
  TimeAxis queries = g.time("queries", {.max = sizes.queries}), keys = g.time("keys", {.max = sizes.keys});
  Tensor q = g.input("q", {queries, sizes.d_k}), k = g.input("k", {keys, sizes.d_k}),
         v = g.input("v", {keys, sizes.d_v});
  if (masked)
    options.mask = g.mask("mask", {queries, keys});
  g.output("y", attention(q, k, v, options));
  return OpGraph("attention", std::move(g));
}

// Causal counts from the end: one query against a longer cache sees all of it (pytorch#103082).
TEST(attention, of_one_query_against_a_longer_cache_sees_all_of_it) {
  OpGraph op = plain({2, 2, 2, 2}, {.causal = true});
  op.expect({1, 2}, {{2, 2}, {0, 1, 2, 0}, {1, 0, 2, 0}}, {{{1.804430f, 0}}}, 1e-6);
  op.expect({2, 1}, {{2, 2, 2, 2}, {0, 1}, {1, 7}}, {{{0, 0}, {1, 7}}}, 1e-6); // the first query sees nothing
}

TEST(attention, of_large_scores) { // executorch#18407
  OpGraph op = plain({1, 3, 1, 3}, {.scale = 1.0});
  op.expect({1, 3}, {{1}, {151.29f, 150.29f, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {{{0.731059f, 0.268941f, 0}}}, 1e-6);
  op.expect({1, 3}, {{1}, {3e4f, -3e4f, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {{{1, 0, 0}}}, 1e-30);
}

TEST(attention, of_equal_values_is_that_value_whatever_the_scores) { // iree#23638
  OpGraph op = plain({3, 40, 5, 3}, {.heads = 1});
  Sequence random = op.graph().randomSequence({3, 40}, 1);
  for (float &score : random.inputs[1].floats)
    score *= 20;
  random.inputs[2] = InputValues(std::vector<float>(40 * 3, 1.5f));
  op.expect({3, 40}, random.inputs, {Rows(3, {1.5f, 1.5f, 1.5f})}, 1e-6);
}

// With one key its weight is exactly 1.
TEST(attention, of_one_key_is_its_value) {
  OpGraph op = plain({3, 3, 5, 2}, {});
  op.expect({1, 1}, {{1, 2, 3, 4, 5}, {9, -9, 1, 100, 2}, {0.1f, -7.7f}}, {{{0.1f, -7.7f}}}, 0);
}

TEST(attention, without_keys_is_0) {
  OpGraph op = plain({3, 3, 5, 2}, {});
  op.expect({2, 0}, {InputValues(std::vector<float>(10, 1)), {}, {}}, {{{0, 0}, {0, 0}}}, 0);
  op.expect({0, 2}, {{}, InputValues(std::vector<float>(10, 1)), {1, 2, 3, 4}}, {{}});
}

// pytorch#27968: short sequences beside longer ones, one of one row and one of none.
TEST(attention, of_sequences_of_5_3_1_and_0_rows_in_one_batch) {
  OpGraph op = plain({5, 5, 4, 3}, {.heads = 1});
  std::vector<Sequence> sequences;
  for (int64_t rows : {5, 3, 1, 0})
    sequences.push_back(op.graph().randomSequence({rows, rows}, uint64_t(rows + 1)));
  Sequence noKeys = op.graph().randomSequence({2, 0}, 7);
  sequences.push_back(noKeys);
  for (auto &[target, model] : op.models()) {
    std::vector<Outputs> got = forwardBatch(*model, sequences);
    Case test{"attention", target->name.str(), "forward_batch of 5, 3, 1 and 0 rows"};
    for (size_t i = 0; i < 3; ++i)
      expectSameBits(test, got[i][0], forward(*model, sequences[i])[0], 3);
    expectSameBits(test, got[2][0], sequences[2].inputs[2].floats, 3); // the weight of the one key is exactly 1
    EXPECT_TRUE(got[3][0].empty());
    expectSameBits(test, got[4][0], std::vector<float>(6, 0), 3);
  }
}

TEST(attention, of_a_query_that_may_see_no_key_is_0) {
  OpGraph op = plain({2, 3, 2, 2}, {}, true);
  op.expect({2, 3},
            {{1, 2, 3, 4}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, InputValues(std::vector<uint8_t>{0, 0, 0, 0, 1, 0})},
            {{{0, 0}, {3, 4}}}, 0);
}

// Equal scores: the result is the mean of the values that are seen. Value j is j.
TEST(attention, sees_what_causal_and_mask_both_allow) { // pytorch#99282
  const std::vector<uint8_t> mask{1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1}, all(16, 1);
  const std::vector<InputValues> inputs{{0, 0, 0, 0}, {1, 2, 3, 4}, {0, 1, 2, 3}};
  auto with = [&](const std::vector<uint8_t> &values) {
    std::vector<InputValues> given = inputs;
    given.emplace_back(values);
    return given;
  };
  const Rows neither(4, {1.5f}), causal = {{0}, {0.5f}, {1}, {1.5f}}, masked = {{5.0f / 3}, {2}, {4.0f / 3}, {1.5f}},
                                 both = {{0}, {1}, {0.5f}, {1.5f}};
  OpGraph withMask = plain({4, 4, 1, 1}, {}, true), withBoth = plain({4, 4, 1, 1}, {.causal = true}, true);
  withMask.expect({4, 4}, with(all), {neither}, 1e-6);
  withBoth.expect({4, 4}, with(all), {causal}, 1e-6);
  withMask.expect({4, 4}, with(mask), {masked}, 1e-6);
  withBoth.expect({4, 4}, with(mask), {both}, 1e-6);
}

// Query i of t_q is at key t_k − t_q + i; a window of w leaves the keys above that less w. Value j is j, the scores are
// equal.
TEST(attention, sees_what_the_window_leaves) {
  const std::vector<InputValues> inputs{{0, 0, 0, 0}, {1, 2, 3, 4}, {0, 1, 2, 3}};
  plain({4, 4, 1, 1}, {.causal = true, .window = 1}).expect({4, 4}, inputs, {{{0}, {1}, {2}, {3}}}, 0);
  plain({4, 4, 1, 1}, {.causal = true, .window = 2}).expect({4, 4}, inputs, {{{0}, {0.5f}, {1.5f}, {2.5f}}}, 1e-6);
  plain({4, 4, 1, 1}, {.causal = true, .window = 9}).expect({4, 4}, inputs, {{{0}, {0.5f}, {1}, {1.5f}}}, 1e-6);
  plain({4, 4, 1, 1}, {.window = 2}).expect({4, 4}, inputs, {{{1.5f}, {1.5f}, {2}, {2.5f}}}, 1e-6);
}

TEST(attention, has_its_window_end_at_the_last_key) {
  OpGraph op = plain({4, 4, 1, 1}, {.causal = true, .window = 2});
  op.expect({1, 4}, {{0}, {1, 2, 3, 4}, {0, 1, 2, 3}}, {{{2.5f}}}, 1e-6);
  op.expect({2, 4}, {{0, 0}, {1, 2, 3, 4}, {0, 1, 2, 3}}, {{{1.5f}, {2.5f}}}, 1e-6);
  op.expect({4, 2}, {{0, 0, 0, 0}, {1, 2}, {7, 8}}, {{{0}, {0}, {7}, {7.5f}}}, 1e-6); // two see no key
}

TEST(attention, sees_what_causal_window_and_mask_all_allow) {
  const std::vector<uint8_t> mask{1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1};
  const std::vector<InputValues> inputs{{0, 0, 0, 0}, {1, 2, 3, 4}, {0, 1, 2, 3}, InputValues(mask)};
  plain({4, 4, 1, 1}, {.causal = true, .window = 2}, true).expect({4, 4}, inputs, {{{0}, {1}, {1}, {3}}}, 1e-6);
  plain({4, 4, 1, 1}, {.window = 3}, true).expect({4, 4}, inputs, {{{5.0f / 3}, {2}, {4.0f / 3}, {3}}}, 1e-6);
}

// Past the longest sequence, too: the stream has no end.
TEST(attention, of_a_stream_sees_the_window) {
  Graph g("op");
  TimeAxis time = g.time("time", {.max = 3});
  Tensor q = g.input("q", {time, 1}), v = g.input("v", {time, 1}); // the scores are 0
  g.output("y", attention(q, q, v, {.heads = 1, .causal = true, .window = 2}));
  OpGraph op("attention", std::move(g));
  op.expectSteps(6, {{0, 0, 0, 0, 0, 0}, {8, 4, 2, 0, 6, -6}}, {{{8}, {6}, {3}, {1}, {3}, {0}}}, 1e-6);
}

static std::vector<float> rowsOf(const std::vector<float> &all, int64_t columns, const std::vector<int64_t> &rows) {
  std::vector<float> some;
  for (int64_t row : rows)
    some.insert(some.end(), all.begin() + row * columns, all.begin() + (row + 1) * columns);
  return some;
}

// A mask is not a length (onnxruntime#18945); and what it hides may be anything, even NaN.
TEST(attention, with_rows_masked_out_is_the_run_over_the_others) {
  OpGraph op = plain({5, 5, 4, 3}, {}, true);
  const std::vector<int64_t> kept{0, 2, 3};
  Sequence random = op.graph().randomSequence({5, 5}, 1);
  std::vector<uint8_t> mask;
  for (int row = 0; row < 5; ++row)
    mask.insert(mask.end(), {1, 0, 1, 1, 0});
  random.inputs[3] = InputValues(mask);
  Sequence junk = random, some{{3, 3}, {}};
  for (int input = 0; input < 3; ++input)
    some.inputs.emplace_back(rowsOf(random.inputs[input].floats, input == 2 ? 3 : 4, kept));
  some.inputs.emplace_back(std::vector<uint8_t>(9, 1));
  const float values[] = {std::nanf(""), std::numeric_limits<float>::infinity(), -3e38f};
  for (int64_t row : {1, 4})
    for (int i = 0; i < 4; ++i) {
      junk.inputs[1].floats[row * 4 + i] = values[i % 3];
      if (i < 3)
        junk.inputs[2].floats[row * 3 + i] = values[i];
    }
  for (auto &[target, model] : op.models()) {
    Outputs got = forward(*model, random), expected = forward(*model, some), withJunk = forward(*model, junk);
    Case test{"attention", target->name.str(), "forward, two of five keys masked out", 1};
    expectClose(test, rowsOf(got[0], 3, kept), expected[0], 3, 1e-6);
    test.entry += ", with junk in them";
    expectSameBits(test, withJunk[0], got[0], 3);
  }
}

TEST(attention, of_12_heads_of_26_features) { // mlc-llm#1889
  plain({9, 9, 312, 312}, {.heads = 12}).expectReference({9, 9}, 1);
}

// ---- Operands that do not fit

static std::string errorOf(const std::string &operands, const std::string &types, const std::string &heads = "1",
                           const std::string &scale = "1.0") {
  return errorsOf("%y = encoder.attention " + operands + " heads " + heads + " scale " + scale +
                  " causal false : " + types);
}

TEST(attention, refuses_what_is_not_along_time) {
  EXPECT_EQ(errorOf("%each, %x3, %x3", "!each, !x3, !x3"),
            "attention: q has shape [sequences, 3], expected [time, features]");
  EXPECT_EQ(errorOf("%x3, %each, %x3", "!x3, !each, !x3"),
            "attention: k has shape [sequences, 3], expected [time, features]");
  EXPECT_EQ(errorOf("%x3, %x3, %w3", "!x3, !x3, tensor<3xf32>"),
            "attention: v has shape [3], expected [time, features]");
}

TEST(attention, c1_q_and_k_have_equal_widths) {
  EXPECT_EQ(errorOf("%x3, %x4, %x3", "!x3, !x4, !x3"), "attention: q has 3 features, k has 4; expected equal widths");
}

TEST(attention, c2_k_and_v_have_equal_rows) {
  EXPECT_EQ(errorOf("%x3, %x3, %other3", "!x3, !x3, !other3"),
            "attention: k has shape [time <= 6, 3], v has shape [other <= 7, 3]; expected equal rows");
}

TEST(attention, c3_the_heads_divide_both_widths) {
  EXPECT_EQ(errorOf("%x3, %x3, %x3", "!x3, !x3, !x3", "2"), "attention: 2 heads do not divide 3 features");
  EXPECT_EQ(errorOf("%x4, %x4, %x3", "!x4, !x4, !x3", "2"), "attention: 2 heads do not divide 3 features");
  EXPECT_EQ(errorOf("%x4, %x4, %x3", "!x4, !x4, !x3", "0"), "attention: heads is 0, expected at least 1");
  EXPECT_EQ(errorOf("%x4, %x4, %x4", "!x4, !x4, !x4", "2"), "");
}

TEST(attention, refuses_a_window_without_rows) {
  auto error = [](const std::string &window) {
    return errorsOf("%y = encoder.attention %x3, %x3, %x3 heads 1 scale 1.0 causal true window " + window +
                    " : !x3, !x3, !x3");
  };
  EXPECT_EQ(error("0"), "attention: window is 0, expected at least 1");
  EXPECT_EQ(error("-1"), "attention: window is -1, expected at least 1");
  EXPECT_EQ(error("2147483648"), "attention: window is 2147483648, expected at most 2147483647");
  EXPECT_EQ(error("1"), "");
  EXPECT_EQ(error("2147483647"), "");
}

TEST(attention, c4_the_mask_is_of_the_rows_of_q_by_those_of_k) {
  EXPECT_EQ(errorOf("%x3, %other3, %other3, mask %mask", "!x3, !other3, !other3, !mask"), "");
  EXPECT_EQ(errorOf("%x3, %x3, %x3, mask %mask", "!x3, !x3, !x3, !mask"),
            "attention: the mask has shape [time, other], expected the rows of q [time <= 6, 3] by the rows of k [time "
            "<= 6, 3]");
  EXPECT_EQ(errorOf("%other3, %x3, %x3, mask %mask", "!other3, !x3, !x3, !mask"),
            "attention: the mask has shape [time, other], expected the rows of q [other <= 7, 3] by the rows of k "
            "[time <= 6, 3]");
}

TEST(attention, refuses_a_scale_that_is_not_finite) {
  EXPECT_EQ(errorOf("%x3, %x3, %x3", "!x3, !x3, !x3", "1", "0x7FF0000000000000"), "attention: scale is not finite");
}
