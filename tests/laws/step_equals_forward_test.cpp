// Law 3: step is derived from forward, and is what forward is.
#include "law_graphs.h"

using namespace burin;
using namespace burin::laws;

BURIN_LAW(step_equals_forward, [](const LawGraph &graph) { return graph.streams; });

static constexpr int64_t samples = 37; // past the first tile of keys

/// The last row of an output of some rows, or the row of its sequence.
static llvm::ArrayRef<float> lastRow(const std::vector<float> &values, int64_t columns) {
  return llvm::ArrayRef(values).take_back(columns);
}

TEST_P(step_equals_forward, on_every_prefix) {
  const uint64_t seed = 20;
  const DeclaredGraph &graph = model().graph;
  Sequence sequence = graph.randomSequence({samples}, seed);
  Stream stream(opened());
  for (int64_t row = 0; row < samples; ++row) {
    Outputs got = stream.step(sequence, row);
    ASSERT_EQ(stream.position(), row + 1);
    Outputs expected = forward(opened(), graph.part(sequence, 0, row + 1));
    for (size_t output = 0; output < got.size(); ++output) {
      std::string entry = "step " + std::to_string(row + 1) + " against forward on as many rows";
      if (!expectClose(place(entry, seed, int(output)), got[output], lastRow(expected[output], columns(output)),
                       columns(output)))
        return;
    }
  }
}

TEST_P(step_equals_forward, advance_is_that_many_steps_bit_for_bit) {
  const uint64_t seed = 21;
  Sequence sequence = model().graph.randomSequence({samples}, seed);
  Stream steps(opened()), advances(opened(), samples);
  int64_t row = 0;
  for (int64_t count : {0, 1, 2, 5, 0, 17, 12}) { // the last crosses a tile of keys
    Outputs got = advances.advance(sequence, row, count);
    EXPECT_EQ(advances.position(), row + count);
    for (int64_t i = 0; i < count; ++i, ++row) {
      Outputs expected = steps.step(sequence, row);
      for (size_t output = 0; output < got.size(); ++output) {
        auto gotRow = llvm::ArrayRef(got[output]).slice(i * columns(output), columns(output));
        if (!expectSameBits(place("advance by " + std::to_string(count) + " against step", seed, int(output)), gotRow,
                            expected[output], columns(output)))
          return;
      }
    }
  }
  ASSERT_EQ(row, samples);
  for (int value = 0; value < opened().plan().state_value_count; ++value) {
    std::string name = opened().plan().state_values[value].name;
    EXPECT_EQ(advances.read(name), steps.read(name)) << name << "\nrerun: " << rerunCommand();
  }
}

TEST_P(step_equals_forward, two_streams_do_not_disturb_one_another) {
  const uint64_t seed = 22;
  const DeclaredGraph &graph = model().graph;
  Sequence first = graph.randomSequence({samples}, seed), second = graph.randomSequence({samples}, seed + 1);
  std::vector<Outputs> expected;
  for (const Sequence *sequence : {&first, &second}) {
    Stream alone(opened());
    for (int64_t row = 0; row < samples; ++row)
      expected.push_back(alone.step(*sequence, row));
  }
  Stream one(opened()), other(opened());
  for (int64_t row = 0; row < samples; ++row)
    for (bool isFirst : {true, false}) {
      Outputs got = isFirst ? one.step(first, row) : other.step(second, row);
      for (size_t output = 0; output < got.size(); ++output)
        if (!expectSameBits(place("step " + std::to_string(row + 1) + ", two streams in turn", seed, int(output)),
                            got[output], expected[isFirst ? row : samples + row][output], columns(output)))
          return;
    }
}

TEST_P(step_equals_forward, a_shorter_stream_after_a_reset_is_a_fresh_one) {
  const uint64_t seed = 24;
  const DeclaredGraph &graph = model().graph;
  Sequence longer = graph.randomSequence({samples}, seed), shorter = graph.randomSequence({9}, seed + 1);
  Stream used(opened()), fresh(opened());
  for (int64_t row = 0; row < samples; ++row)
    used.step(longer, row);
  require("reset", used.reset());
  EXPECT_EQ(used.position(), 0);
  for (int64_t row = 0; row < 9; ++row) {
    Outputs got = used.step(shorter, row), expected = fresh.step(shorter, row);
    for (size_t output = 0; output < got.size(); ++output)
      if (!expectSameBits(place("step " + std::to_string(row + 1) + " after reset", seed, int(output)), got[output],
                          expected[output], columns(output)))
        return;
  }
}

// One step past the capacity: a status, and state and outputs are as before.
TEST_P(step_equals_forward, a_step_past_the_capacity_changes_nothing) {
  if (opened().plan().step_axis < 0)
    return; // the stream has no end
  int64_t capacity = signature().axes[0].maximum;
  Sequence sequence = model().graph.randomSequence({capacity + 1}, 26);
  Stream stream(opened(), capacity + 1);
  stream.advance(sequence, 0, capacity);
  auto stateBytes = [&] {
    const Buffer &state = stream.state();
    return std::string(state.as<char>(), state.bytes());
  };
  stream.feed(sequence, capacity);
  std::string state = stateBytes();
  Outputs outputs = stream.results();
  EXPECT_EQ(stream.step(), BURIN_STATE_FULL) << rerunCommand();
  EXPECT_TRUE(stateBytes() == state) << "the state has changed\nrerun: " << rerunCommand();
  EXPECT_EQ(stream.results(), outputs) << rerunCommand();
}
