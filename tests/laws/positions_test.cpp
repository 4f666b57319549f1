// Streams that begin somewhere else: positions are 64-bit, and only what asks for a position sees them.
#include "graph_builder.h"
#include <cmath>

using namespace burin;
using namespace burin::laws;

BURIN_LAW(positions, [](const LawGraph &graph) { return graph.streams; });

/// True where the result of a step depends on the position.
static bool takesPositions(const burin_plan &plan) {
  const burin_plan_entry &entry = *plan.streams[0].one;
  for (const burin_plan_call &call : llvm::ArrayRef(entry.calls, entry.call_count))
    for (const burin_plan_argument &argument : llvm::ArrayRef(call.arguments, call.argument_count))
      if (argument.kind == BURIN_ARG_POSITION || argument.kind == BURIN_ARG_POSITIONS)
        return true;
  return false;
}

// Caches and running sums count rows since the reset: a graph that asks for no position gives the same bits from any.
TEST_P(positions, are_seen_by_what_asks_for_them_only) {
  if (takesPositions(opened().plan()))
    return;
  const uint64_t seed = 120;
  Sequence sequence = randomSequence(37, seed);
  Stream stream(opened(), 37), expected(opened(), 37);
  const int64_t start = (int64_t(1) << 40) + 7;
  require("reset", stream.reset(start));
  for (Stream *each : {&stream, &expected})
    each->appendContexts(sequence);
  ASSERT_EQ(stream.position(), start);
  for (int64_t row = 0; row < 20; ++row)
    if (!expectSameOutputs("step " + std::to_string(row + 1) + " from position 2^40 + 7", seed,
                           stream.step(sequence, row), expected.step(sequence, row)))
      return;
  if (!expectSameOutputs("advance by 17 from position 2^40 + 27", seed, stream.advance(sequence, 20, 17),
                         expected.advance(sequence, 20, 17)))
    return;
  EXPECT_EQ(stream.position(), start + 37);
  for (int number = 1; number < opened().plan().stream_count; ++number)
    EXPECT_EQ(stream.position(number), 37) << rerunCommand();
}

TEST_P(positions, outside_the_stream_are_refused) {
  Stream stream(opened());
  std::string before = stream.stateBytes();
  EXPECT_EQ(stream.reset(-1), BURIN_TIME_OUT_OF_RANGE) << rerunCommand();
  EXPECT_EQ(stream.reset(std::numeric_limits<int64_t>::min()), BURIN_TIME_OUT_OF_RANGE) << rerunCommand();
  int64_t end = opened().plan().streams[0].position_end;
  if (end >= 0) {
    EXPECT_EQ(stream.reset(end + 1), BURIN_TIME_OUT_OF_RANGE) << rerunCommand();
  }
  EXPECT_TRUE(stream.stateBytes() == before) << "the state has changed\nrerun: " << rerunCommand();
}

// The last position that there is: one more row, and then the stream is full.
TEST_P(positions, end_by_a_status) {
  Sequence sequence = randomSequence(2, 121);
  int64_t end = opened().plan().streams[0].position_end;
  end = end < 0 ? std::numeric_limits<int64_t>::max() : end;
  Stream stream(opened(), 2);
  require("reset", stream.reset(end - 1));
  stream.step(sequence, 0);
  EXPECT_EQ(stream.position(), end) << rerunCommand();
  stream.feed(sequence, 1);
  EXPECT_EQ(stream.step(), BURIN_STATE_FULL) << rerunCommand();
  require("reset", stream.reset(end - 1));
  stream.feed(sequence, 0, 2);
  EXPECT_EQ(stream.advance(2), BURIN_STATE_FULL) << rerunCommand();
  EXPECT_EQ(stream.position(), end - 1) << rerunCommand();
}

// ---- Far from the start

class positions_of_an_encoder : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, positions_of_an_encoder, testing::ValuesIn(targetNames()), nameOfTarget);

/// x W + b + P(position): what the blocks of the encoder are given, in double and with angles in long double.
static Sequence embedded(const Sequence &sequence, const Weights &weights, int64_t start) {
  const int64_t inputs = 5, features = 48, rows = sequence.rows[0];
  const std::vector<float> &x = sequence.inputs[0].floats, &W = weights.at("embed.W"), &b = weights.at("embed.b");
  std::vector<float> values;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < features; ++i) {
      double value = b[i];
      for (int64_t k = 0; k < inputs; ++k)
        value += double(x[row * inputs + k]) * double(W[k * features + i]);
      long double angle = (long double)(start + row) / std::pow(10000.0L, (long double)(i - i % 2) / features);
      values.push_back(float(value + double(i % 2 ? std::cos(angle) : std::sin(angle))));
    }
  return Sequence{{rows}, {InputValues(values)}};
}

// Far beyond 32 bits a windowed encoder is its blocks on rows that were given their positions by other means.
TEST_P(positions_of_an_encoder, are_right_far_from_the_start) {
  const Target &target = *findTarget(GetParam());
  if (std::string why = whyNotTested(target); !why.empty())
    GTEST_SKIP() << why;
  const LawModel &encoder = LawModel::of(lawGraph("windowed_encoder"), target),
                 &blocks = LawModel::of(lawGraph("windowed_blocks"), target);
  Weights weights;
  for (const GraphParameter &parameter : blocks.graph.signature().parameters)
    weights[parameter.name] = encoder.weights.at(parameter.name);
  OpenedModel opened(blocks.compiled, blocks.graph, weights);
  const int64_t rows = 37, power31 = int64_t(1) << 31;
  uint64_t seed = 122;
  for (int64_t start : {int64_t(0), int64_t(1000000), power31 - 20, power31 + 5, 4 * power31, power31 << 9}) {
    Sequence sequence = encoder.graph.randomSequence({rows}, ++seed),
             given = embedded(sequence, encoder.weights, start);
    Stream stream(encoder.opened, rows), chunk(encoder.opened, rows), expected(opened, rows);
    for (Stream *each : {&stream, &chunk})
      require("reset", each->reset(start));
    Outputs inOne = chunk.advance(sequence, 0, rows);
    for (int64_t row = 0; row < rows; ++row) {
      Case test{"windowed_encoder", target.name.str(),
                "step " + std::to_string(row + 1) + " from position " + std::to_string(start), seed};
      std::vector<float> got = stream.step(sequence, row)[0];
      if (!expectClose(test, got, expected.step(given, row)[0], 3))
        return;
      test.entry = "advance from position " + std::to_string(start) + ", row " + std::to_string(row);
      if (!expectSameBits(test, llvm::ArrayRef(inOne[0]).slice(row * 3, 3), got, 3))
        return;
    }
  }
}
