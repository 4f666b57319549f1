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
  SKIP_UNLESS_IN_THIS_PROCESS();
  SKIP_ON_DEVICE("its driver allocates");
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
  SKIP_UNLESS_IN_THIS_PROCESS();
  SKIP_ON_DEVICE("its driver allocates");
  SKIP_UNLESS_COUNTED();
  Sequence sequence = randomSequence(40, 1);
  Stream stream(opened(), 37);
  EXPECT_EQ(allocationsIn([&] { return stream.reset(); }), 0) << "reset\nrerun: " << rerunCommand();
  for (int64_t row = 0; row < 3; ++row)
    for (int number = opened().plan().stream_count - 1; number >= 0; --number) {
      stream.feed(sequence, row, 1, number);
      EXPECT_EQ(allocationsIn([&] { return number ? stream.advance(1, number) : stream.step(); }), 0)
          << "one row of stream " << number << "\nrerun: " << rerunCommand();
    }
  for (int number = opened().plan().stream_count - 1; number >= 0; --number) {
    stream.feed(sequence, 3, 37, number);
    EXPECT_EQ(allocationsIn([&] { return stream.advance(37, number); }), 0)
        << "37 rows of stream " << number << "\nrerun: " << rerunCommand();
  }
  const burin_plan &plan = opened().plan();
  for (int value = 0; value < plan.state_value_count; ++value) {
    std::string name = plan.state_values[value].name;
    std::vector<float> values(plan.state_values[value].rows * plan.state_values[value].features);
    int64_t rows = 0;
    EXPECT_EQ(allocationsIn([&] { return stream.read(name, values, rows); }), 0) << "state_read of " << name;
  }
  std::vector<char> saved = stream.save();
  size_t bytes = 0;
  EXPECT_EQ(allocationsIn([&] { return stream.save(saved, bytes); }), 0) << "state_save\nrerun: " << rerunCommand();
  EXPECT_EQ(allocationsIn([&] { return stream.load(saved); }), 0) << "state_load\nrerun: " << rerunCommand();
  EXPECT_EQ(allocationsIn([&] { return stream.reset(5); }), 0) << "reset_at\nrerun: " << rerunCommand();
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

TEST(nothing_allocated_after_open_by_entry_points, of_two_streams) {
  SKIP_UNLESS_COUNTED();
  const LawGraph &law = lawGraph("gated_cross_attention");
  const LawModel &model = LawModel::of(law, *hostTarget());
  auto entry = [&]<typename Function>(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(model.compiled.entryPoint(name));
  };
  burin_status (*open)(const burin_open_options *, burin_model **);
  void (*close)(burin_model *);
  size_t (*scratchBytes)(int64_t, int64_t), (*stateBytes)();
  burin_status (*resetAt)(const burin_model *, void *, size_t, int64_t);
  burin_status (*step)(const burin_model *, void *, void *, size_t, const float *, const float *, float *);
  burin_status (*advance)(const burin_model *, void *, void *, size_t, int64_t, const float *, const float *, float *);
  burin_status (*append)(const burin_model *, void *, void *, size_t, int64_t, const float *);
  burin_status (*save)(const burin_model *, const void *, void *, size_t, size_t *);
  burin_status (*load)(const burin_model *, void *, size_t, const void *, size_t);
  entry(open, "open");
  entry(close, "close");
  entry(scratchBytes, "scratch_bytes");
  entry(stateBytes, "state_bytes");
  entry(resetAt, "reset_at");
  entry(step, "step");
  entry(advance, "advance");
  entry(append, "append_context");
  entry(save, "state_save");
  entry(load, "state_load");

  std::string file = model.graph.fileOf(model.weights);
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  burin_model *opened = nullptr;
  ASSERT_EQ(open(&options, &opened), BURIN_OK);

  const int64_t rows = 9;
  const std::vector<int64_t> lengths(2, rows);
  Sequence sequence = model.graph.randomSequence(lengths, 2);
  const float *x = sequence.inputs[0].floats.data(), *context = sequence.inputs[1].floats.data(),
              *signal = sequence.inputs[2].floats.data();
  Stream expected(model.opened, rows);
  expected.appendContexts(sequence);
  Outputs expectedFirst = expected.step(sequence, 0), expectedOthers = expected.advance(sequence, 1, rows - 1);

  Buffer scratch("scratch", scratchBytes(rows, rows), 64, Placement::anywhere);
  Buffer state("state", stateBytes(), 64, Placement::anywhere), other("state", stateBytes(), 64, Placement::anywhere);
  std::vector<float> y(10), others((rows - 1) * 10), again(others.size());
  std::vector<char> saved(1 << 16);
  size_t bytes = 0;
  auto none = [](const char *what, llvm::function_ref<burin_status()> call) {
    EXPECT_EQ(allocationsIn(call), 0) << what << "\nrerun: " << rerunCommand();
  };
  none("reset_at", [&] { return resetAt(opened, state.as(), state.bytes(), 1000000); });
  none("append_context", [&] { return append(opened, state.as(), scratch.as(), scratch.bytes(), rows, context); });
  none("step", [&] { return step(opened, state.as(), scratch.as(), scratch.bytes(), x, signal, y.data()); });
  none("state_save", [&] { return save(opened, state.as(), saved.data(), saved.size(), &bytes); });
  none("state_load", [&] { return load(opened, other.as(), other.bytes(), saved.data(), bytes); });
  for (auto [its, values] : {std::pair(&state, &others), std::pair(&other, &again)})
    none("advance", [&] {
      return advance(opened, its->as(), scratch.as(), scratch.bytes(), rows - 1, x + 10, signal + 1, values->data());
    });
  EXPECT_EQ(burin_state_position(state.as()), 1000000 + rows) << rerunCommand();
  EXPECT_EQ(burin_state_stream_position(other.as(), 1), rows) << rerunCommand();
  Case test{law.name, hostTarget()->name.str(), "step through the entry points", 2};
  expectSameBits(test, y, expectedFirst[0], 10);
  test.entry = "advance through the entry points";
  expectSameBits(test, others, expectedOthers[0], 10);
  test.entry = "advance of a loaded state through the entry points";
  expectSameBits(test, again, expectedOthers[0], 10);
  close(opened);
}
