#include "op_test.h"

using namespace burin;
using namespace burin::laws;

static OpGraph causalSelf() {
  Graph g("op");
  Tensor x = g.input("x", {g.time("time", {.max = 40}), 2});
  g.output("y", attention(x, x, x, {.heads = 1, .causal = true}));
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

TEST(append, refuses_what_is_no_cache_of_such_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.append %row, %position, %cache4 : !row, !position, !cache4"),
            "append: the state has shape [6, 4], expected a cache of rows like [1, 3]");
  EXPECT_EQ(errorsOf("%y = encoder.append %row, %position, %w5x3 : !row, !position, tensor<5x3xf32>"),
            "append: the state has shape [5, 3], expected a cache of rows like [1, 3]");
  EXPECT_EQ(errorsOf("%y = encoder.append %row, %position, %cache3 : !row, !position, !cache3"), "");
}
