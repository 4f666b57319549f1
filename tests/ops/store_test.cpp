#include "op_test.h"

using namespace burin;
using namespace burin::laws;

// It stands in derived entries only. Rows come to their places one by one and several at once, in plain order whatever
// the target's layout, past a tile of keys too.
TEST(store, writes_the_rows_of_a_context) {
  Graph g("op");
  Tensor q = g.input("q", {g.time("queries", {.max = 4}), 2}), c = g.input("c", {g.time("context", {.max = 70}), 2});
  g.output("y", attention(q, c, c, {.heads = 1}));
  OpGraph op("store", std::move(g));
  Sequence sequence = op.graph().randomSequence({4, 70}, 1);
  const std::vector<float> &rows = sequence.inputs[1].floats;
  for (auto &[target, model] : op.models()) {
    Stream stream(*model, 40);
    int64_t first = 0;
    for (int64_t count : {0, 1, 2, 1, 30, 1, 5, 0, 30}) {
      stream.append(1, sequence, first, count);
      first += count;
      ASSERT_EQ(stream.position(1), first);
      for (const char *name : {"k_cache", "v_cache"}) {
        Case test{"store", target->name.str(), std::string(name) + " after " + std::to_string(first) + " rows", 1};
        if (!expectSameBits(test, stream.read(name), llvm::ArrayRef(rows).take_front(first * 2), 2))
          return;
      }
    }
  }
}

/// An op without results is inferred by its verifier, which adds a line of its own.
static std::string errorOf(const std::string &body) { return llvm::StringRef(errorsOf(body)).split('\n').first.str(); }

TEST(store, refuses_what_is_no_cache_of_such_rows) {
  EXPECT_EQ(errorOf("encoder.store %row, %position, %cache4 : !row, !position, !cache4"),
            "store: the state has shape [6, 4], expected a cache of rows like [1, 3]");
  EXPECT_EQ(errorOf("encoder.store %row, %position, %w5x3 : !row, !position, tensor<5x3xf32>"),
            "store: the state has shape [5, 3], expected a cache of rows like [1, 3]");
  EXPECT_EQ(errorOf("encoder.store %x3, %position, %cache3 : !x3, !position, !cache3"), "");
}
