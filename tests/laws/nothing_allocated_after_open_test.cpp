// Law 5: after a model is opened, nothing that runs it allocates.
#include "allocation_counter.h"
#include "law_graphs.h"

using namespace burin;
using namespace burin::laws;

BURIN_LAW(nothing_allocated_after_open, [](const LawGraph &) { return true; });
BURIN_LAW(nothing_allocated_while_streaming, [](const LawGraph &graph) { return graph.streams; });

/// Allocations during `call`, which must succeed.
template <typename Call> static long allocationsIn(Call call) {
  long before = allocations();
  burin_status status = call();
  long after = allocations();
  EXPECT_EQ(status, BURIN_OK) << rerunCommand();
  return after - before;
}

#define SKIP_UNLESS_COUNTED()                                                                                          \
  if (!allocationsAreCounted())                                                                                        \
  GTEST_SKIP() << "the allocator belongs to a sanitizer, or is not glibc's"

TEST_P(nothing_allocated_after_open, in_forward) {
  SKIP_UNLESS_COUNTED();
  for (const std::vector<int64_t> &lengths : oddLengths(signature())) {
    ForwardCall call(opened(), model().graph.randomSequence(lengths, 1));
    EXPECT_EQ(allocationsIn([&] { return call.run(); }), 0) << rerunCommand();
  }
  std::vector<Sequence> sequences;
  for (int64_t length : {5, 3, 1, 0, 33})
    sequences.push_back(model().graph.randomSequence(std::vector<int64_t>(signature().axes.size(), length), 1));
  ForwardCall call(opened(), sequences);
  EXPECT_EQ(allocationsIn([&] { return call.runBatch(); }), 0) << "forward_batch\nrerun: " << rerunCommand();
}

TEST_P(nothing_allocated_while_streaming, in_any_call) {
  SKIP_UNLESS_COUNTED();
  Sequence sequence = model().graph.randomSequence({40}, 1);
  Stream stream(opened(), 37);
  EXPECT_EQ(allocationsIn([&] { return stream.reset(); }), 0) << "reset\nrerun: " << rerunCommand();
  for (int64_t row = 0; row < 3; ++row) {
    stream.feed(sequence, row);
    EXPECT_EQ(allocationsIn([&] { return stream.step(); }), 0) << "step\nrerun: " << rerunCommand();
  }
  stream.feed(sequence, 3, 37);
  EXPECT_EQ(allocationsIn([&] { return stream.advance(37); }), 0) << "advance\nrerun: " << rerunCommand();
  const burin_plan &plan = opened().plan();
  for (int value = 0; value < plan.state_value_count; ++value) {
    std::string name = plan.state_values[value].name;
    std::vector<float> values(plan.state_values[value].rows * plan.state_values[value].features);
    int64_t rows = 0;
    EXPECT_EQ(allocationsIn([&] { return stream.read(name, values, rows); }), 0) << "state_read of " << name;
  }
}

// The same through the functions that a program calls, with the runtime that is linked into the model.
TEST(nothing_allocated_after_open_by_entry_points, of_a_causal_encoder) {
  SKIP_UNLESS_COUNTED();
  const LawGraph &law = lawGraph("causal_encoder");
  const LawModel &model = LawModel::of(law, *hostTarget());
  auto entry = [&]<typename Function>(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(model.compiled.entryPoint(name));
  };
  burin_status (*open)(const burin_open_options *, burin_model **);
  void (*close)(burin_model *);
  size_t (*scratchBytes)(int64_t), (*stateBytes)();
  burin_status (*forward)(const burin_model *, void *, size_t, int64_t, const float *, float *);
  burin_status (*forwardBatch)(const burin_model *, void *, size_t, int64_t, const int64_t *, const float *, float *);
  burin_status (*reset)(const burin_model *, void *, size_t);
  burin_status (*step)(const burin_model *, void *, void *, size_t, const float *, float *);
  burin_status (*advance)(const burin_model *, void *, void *, size_t, int64_t, const float *, float *);
  entry(open, "open");
  entry(close, "close");
  entry(scratchBytes, "scratch_bytes");
  entry(stateBytes, "state_bytes");
  entry(forward, "forward");
  entry(forwardBatch, "forward_batch");
  entry(reset, "reset");
  entry(step, "step");
  entry(advance, "advance");

  std::string file = model.graph.fileOf(model.weights);
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  burin_model *opened = nullptr;
  EXPECT_GT(allocationsIn([&] { return open(&options, &opened); }), 0); // the model's own runtime is counted too
  ASSERT_TRUE(opened);

  const int64_t rows = 9, offsets[] = {0, 4, 9};
  Sequence sequence = model.graph.randomSequence({rows}, 1);
  const float *x = sequence.inputs[0].floats.data();
  Outputs expected = burin::laws::forward(model.opened, sequence);
  std::vector<float> y(rows * 3);
  Buffer scratch("scratch", scratchBytes(rows), 64, Placement::anywhere);
  Buffer state("state", stateBytes(), 64, Placement::anywhere);
  EXPECT_EQ(allocationsIn([&] { return forward(opened, scratch.as(), scratch.bytes(), rows, x, y.data()); }), 0);
  y.resize(3);
  Case test{law.name, hostTarget()->name.str(), "forward through the entry point", 1};
  expectSameBits(test, y, expected[0], 3);
  y.resize(rows * 3);
  EXPECT_EQ(allocationsIn([&] { return reset(opened, state.as(), state.bytes()); }), 0);
  EXPECT_EQ(allocationsIn([&] { return step(opened, state.as(), scratch.as(), scratch.bytes(), x, y.data()); }), 0);
  EXPECT_EQ(allocationsIn(
                [&] { return advance(opened, state.as(), scratch.as(), scratch.bytes(), rows - 1, x + 5, y.data()); }),
            0);
  test.entry = "step and advance through the entry points against forward";
  expectClose(test, llvm::ArrayRef(y).slice((rows - 2) * 3, 3), expected[0], 3);
  Buffer batchScratch("scratch", 2 * scratchBytes(rows), 64, Placement::anywhere);
  EXPECT_EQ(allocationsIn(
                [&] { return forwardBatch(opened, batchScratch.as(), batchScratch.bytes(), 2, offsets, x, y.data()); }),
            0);
  close(opened);
}
