// Gates: a closed row is the row that came in, bit for bit, and what only closed rows would read is not computed.
#include "law_graphs.h"
#include <cmath>
#include <limits>

using namespace burin;
using namespace burin::laws;

BURIN_LAW(gates, [](const LawGraph &graph) { return graph.gate; });

static constexpr uint64_t seed = 130;
static constexpr float open = 1, closed = -1; // far from the thresholds

static std::vector<float> &valuesOf(const char *input, Sequence &sequence, const GraphSignature &signature) {
  auto place = llvm::find_if(signature.inputs, [&](const EntryTensor &tensor) { return tensor.name == input; });
  return sequence.inputs[place - signature.inputs.begin()].floats;
}

static void setSignals(Sequence &sequence, const GraphSignature &signature, float value) {
  llvm::fill(valuesOf("signal", sequence, signature), value);
}

/// Kernels behind a gate that run during `call`.
static int guardedKernelsIn(llvm::function_ref<void()> call) {
  static int count;
  count = 0;
  burin_rt_probe = [](const burin_plan_call *kernel, int finished) { count += kernel->guard >= 0 && finished; };
  call();
  burin_rt_probe = nullptr;
  return count;
}

// Whatever the other rows and the context hold, and whatever the row itself holds.
TEST_P(gates, leave_closed_rows_as_they_are_bit_for_bit) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const float bad[] = {nan, infinity, -infinity, -0.0f, 3e38f};
  const float closedSignals[] = {closed, nan, -infinity, -3e38f};
  Sequence sequence = randomSequence(longest, seed);
  for (size_t input = 0; input < sequence.inputs.size(); ++input) // every fifth row of everything
    for (size_t i = 0, width = sequence.inputs[input].floats.size() / longest; i < longest * width; ++i)
      if (i / width % 5 == 3)
        sequence.inputs[input].floats[i] = bad[i % 5];
  std::vector<float> &signals = valuesOf("signal", sequence, signature());
  for (int64_t row = 0; row < longest; ++row)
    signals[row] = row % 3 == 1 ? open : closedSignals[row % 4];
  const std::vector<float> x = valuesOf("x0", sequence, signature());
  Stream steps(opened(), longest), chunks(opened(), longest);
  for (Stream *each : {&steps, &chunks})
    each->appendContexts(sequence);
  std::vector<float> inSteps;
  for (int64_t row = 0; row < longest; ++row)
    llvm::append_range(inSteps, steps.step(sequence, row)[0]);
  const std::pair<const char *, std::vector<float>> results[] = {
      {"forward", forward(opened(), sequence)[0]},
      {"forward_batch", forwardBatch(opened(), {sequence, sequence})[1][0]},
      {"advance", chunks.advance(sequence, 0, longest)[0]},
      {"step", inSteps}};
  for (const auto &[entry, got] : results)
    for (int64_t row = 0; row < longest; ++row) {
      if (row % 3 == 1)
        continue;
      Case test = place(std::string(entry) + ", closed row " + std::to_string(row), seed, 0);
      auto its = [&](llvm::ArrayRef<float> rows) { return rows.slice(row * columns(0), columns(0)); };
      if (!expectSameBits(test, its(got), its(x), columns(0)))
        return;
    }
}

TEST_P(gates, run_nothing_behind_them_where_every_row_is_closed) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  SKIP_ON_DEVICE("the host would have to wait for signals that they compute");
  Sequence sequence = randomSequence(40, seed);
  for (float signal : {open, closed}) {
    setSignals(sequence, signature(), signal);
    ForwardCall alone(opened(), sequence), batch(opened(), {sequence, sequence});
    Stream stream(opened(), 40);
    stream.appendContexts(sequence);
    stream.feed(sequence, 0, 40);
    const std::pair<const char *, int> counts[] = {
        {"forward", guardedKernelsIn([&] { require("forward", alone.run()); })},
        {"forward_batch", guardedKernelsIn([&] { require("forward_batch", batch.runBatch()); })},
        {"step", guardedKernelsIn([&] { require("step", stream.step()); })},
        {"advance", guardedKernelsIn([&] { require("advance", stream.advance(39)); })}};
    for (auto [entry, count] : counts) {
      if (signal == open)
        EXPECT_GT(count, 0) << entry << ", all open\nrerun: " << rerunCommand();
      else
        EXPECT_EQ(count, 0) << entry << ", all closed\nrerun: " << rerunCommand();
    }
  }
}

// A large batch runs in parts. What is behind a gate runs for the part, or the sequence, in which some row is open: as
// often as for that sequence alone.
TEST_P(gates, are_looked_at_part_by_part) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  SKIP_ON_DEVICE("the host would have to wait for signals that they compute");
  std::vector<Sequence> sequences;
  for (int number = 0; number < 12; ++number) {
    sequences.push_back(randomSequence(longest, seed + number));
    setSignals(sequences.back(), signature(), closed);
  }
  valuesOf("signal", sequences[7], signature())[69] = open;
  ForwardCall batch(opened(), sequences), alone(opened(), sequences[7]);
  int inBatch = guardedKernelsIn([&] { require("forward_batch", batch.runBatch()); }),
      inForward = guardedKernelsIn([&] { require("forward", alone.run()); });
  EXPECT_EQ(inBatch, inForward) << rerunCommand();
  std::vector<Outputs> got = batch.results();
  for (int number = 0; number < 12; ++number)
    if (!expectSameOutputs("forward_batch, sequence " + std::to_string(number), seed + number, got[number],
                           forward(opened(), sequences[number])))
      return;
}

// What comes while the gate is closed is kept, and is seen when it opens.
TEST_P(gates, let_the_past_in_when_they_open) {
  const DeclaredGraph &graph = model().graph;
  Sequence sequence = randomSequence(longest, seed);
  std::vector<float> &signals = valuesOf("signal", sequence, signature());
  for (int64_t row = 0; row < longest; ++row)
    signals[row] = row < 34 ? closed : open;
  Stream stream(opened(), longest);
  for (int64_t row = 0; row < 35; ++row) {
    for (int number = 1; number < opened().plan().stream_count; ++number)
      stream.append(number, sequence, 2 * row, 2);
    Outputs got = stream.step(sequence, row);
    if (row < 34)
      continue;
    Outputs expected = forward(opened(), graph.part(sequence, 0, row + 1, stepAxis()));
    for (size_t output = 0; output < got.size(); ++output)
      if (!expectClose(place("step 35, the first that is open, against forward", seed, int(output)), got[output],
                       llvm::ArrayRef(expected[output]).take_back(columns(output)), columns(output)))
        return;
  }
}
