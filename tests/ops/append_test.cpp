#include "op_test.h"

using namespace burin;
using namespace burin::laws;

static OpGraph causalSelf(std::optional<int64_t> window = {}) {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 40}), 2});
  g.output("y", attention(x, x, x, {.heads = 1, .causal = true, .window = window}));
  return OpGraph("append", std::move(g));
}

// Every step adds its row to keys and values, in plain order whatever the target's layout: past a tile of keys, too.
TEST(append, adds_one_row_a_step) {
  OpGraph op = causalSelf();
  Sequence sequence = op.graph().randomSequence({40}, 1);
  const std::vector<float> &x = sequence.inputs[0].floats;
  for (auto &[target, model] : op.models()) {
    Stream stream(*model);
    ASSERT_EQ(model->plan().state_value_count, 2);
    for (int64_t row = 0; row <= 40; ++row) {
      for (const char *name : {"k_cache", "v_cache"}) {
        Case test{"append", target->name.str(), std::string(name) + " after " + std::to_string(row) + " steps", 1};
        if (!expectSameBits(test, stream.read(name), llvm::ArrayRef(x).take_front(row * 2), 2))
          return;
      }
      if (row < 40)
        stream.step(sequence, row);
    }
  }
}

TEST(append, adds_several_rows_at_once) {
  OpGraph op = causalSelf();
  Sequence sequence = op.graph().randomSequence({40}, 2);
  const std::vector<float> &x = sequence.inputs[0].floats;
  for (auto &[target, model] : op.models()) {
    Stream stream(*model, 33);
    int64_t rows = 0;
    for (int64_t count : {2, 0, 1, 33, 4}) { // across tiles of keys
      stream.advance(sequence, rows, count);
      rows += count;
      for (const char *name : {"k_cache", "v_cache"}) {
        Case test{"append", target->name.str(), std::string(name) + " after " + std::to_string(rows) + " rows", 2};
        if (!expectSameBits(test, stream.read(name), llvm::ArrayRef(x).take_front(rows * 2), 2))
          return;
      }
    }
  }
}

// A ring: the last rows of the window, oldest first, however often the rows have come round.
TEST(append, keeps_the_last_rows_of_a_window) {
  OpGraph op = causalSelf(5);
  Sequence sequence = op.graph().randomSequence({200}, 3);
  const std::vector<float> &x = sequence.inputs[0].floats;
  for (auto &[target, model] : op.models()) {
    Stream stream(*model, 31);
    int64_t rows = 0;
    while (rows < 200) {
      int64_t count = std::min<int64_t>(rows % 3 ? 1 : 31, 200 - rows);
      stream.advance(sequence, rows, count);
      rows += count;
      for (const char *name : {"k_cache", "v_cache"}) {
        Case test{"append", target->name.str(), std::string(name) + " after " + std::to_string(rows) + " rows", 3};
        auto last = llvm::ArrayRef(x).take_front(rows * 2).take_back(std::min<int64_t>(rows, 5) * 2);
        if (!expectSameBits(test, stream.read(name), last, 2))
          return;
      }
    }
  }
}

TEST(append, refuses_what_is_no_cache_of_such_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.append %row, %position, %cache4 : !row, !position, !cache4"),
            "append: the state has shape [6, 4], expected a cache of rows like [1, 3]");
  EXPECT_EQ(errorsOf("%y = encoder.append %row, %position, %w5x3 : !row, !position, tensor<5x3xf32>"),
            "append: the state has shape [5, 3], expected a cache of rows like [1, 3]");
  EXPECT_EQ(errorsOf("%y = encoder.append %row, %position, %cache3 : !row, !position, !cache3"), "");
}
