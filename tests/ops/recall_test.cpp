#include "op_test.h"

using namespace burin;
using namespace burin::laws;

// It stands in derived entries only.

// A query sees what the context has when it asks, and 0 before there is any.
TEST(recall, gives_the_rows_that_another_stream_has_so_far) {
  Graph g("op");
  Tensor q = g.input("q", {g.time("queries", {.max = 4}), 2}), c = g.input("c", {g.time("context", {.max = 40}), 2});
  g.output("y", attention(q, c, c, {.heads = 1}));
  OpGraph op("recall", std::move(g));
  Sequence sequence = op.graph().randomSequence({4, 40}, 1);
  for (auto &[target, model] : op.models()) {
    sequence.inputs[0] = {1, 0, 1, 0, 1, 0, 0, 0};
    std::copy_n(std::begin({1.0f, 0.0f, 0.0f, 2.0f}), 4, sequence.inputs[1].floats.begin());
    Stream stream(*model, 40);
    Case test{"recall", target->name.str(), "step before any context"};
    expectSameBits(test, stream.step(sequence, 0)[0], {0, 0}, 2);
    stream.append(1, sequence, 0, 1);
    test.entry = "step after one row of context";
    expectSameBits(test, stream.step(sequence, 1)[0], {1, 0}, 2);
    stream.append(1, sequence, 1, 1);
    test.entry = "step after two rows of context";
    expectClose(test, stream.step(sequence, 2)[0], llvm::ArrayRef<float>({0.669762f, 0.660477f}), 2, 1e-6);
    stream.append(1, sequence, 2, 38);
    double mean[2] = {0, 0}; // of all rows, since the last query's scores are 0
    for (int i = 0; i < 80; ++i)
      mean[i % 2] += sequence.inputs[1].floats[i] / 40;
    test.entry = "step after 40 rows of context";
    expectClose(test, stream.step(sequence, 3)[0], llvm::ArrayRef<double>(mean), 2, 1e-6);
  }
}

TEST(recall, refuses_what_does_not_keep_all_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.recall %position, %w5x3 : !position, tensor<5x3xf32>"),
            "recall: the state has shape [5, 3], expected a cache that keeps all rows");
  EXPECT_EQ(errorsOf("%y = encoder.recall %position, %ring3 : !position, !ring3"),
            "recall: the state has shape [6, 3], expected a cache that keeps all rows");
  EXPECT_EQ(errorsOf("%y = encoder.recall %position, %cache3 : !position, !cache3"), "");
}
