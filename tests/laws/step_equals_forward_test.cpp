// Law 3: step is derived from forward, and is what forward is.
#include "law_graphs.h"

using namespace burin;
using namespace burin::laws;

BURIN_LAW(step_equals_forward, [](const LawGraph &graph) { return graph.streams; });
BURIN_LAW(step_equals_forward_with_contexts, [](const LawGraph &graph) { return graph.streams && graph.contexts; });

static constexpr int64_t samples = 37; // past the first tile of keys

/// What belongs to the last of `rows` rows of an output: its row, or all that its sequence has.
static llvm::ArrayRef<float> lastRow(const std::vector<float> &values, bool hasRows, int64_t rows) {
  return hasRows ? llvm::ArrayRef(values).take_back(values.size() / rows) : llvm::ArrayRef(values);
}

TEST_P(step_equals_forward, on_every_prefix) {
  const uint64_t seed = 20;
  const DeclaredGraph &graph = model().graph;
  Sequence sequence = randomSequence(samples, seed);
  Stream stream(opened(), samples);
  stream.appendContexts(sequence);
  for (int64_t row = 0; row < samples; ++row) {
    Outputs got = stream.step(sequence, row);
    ASSERT_EQ(stream.position(), row + 1);
    Outputs expected = forward(opened(), graph.part(sequence, 0, row + 1, stepAxis()));
    for (size_t output = 0; output < got.size(); ++output) {
      std::string entry = "step " + std::to_string(row + 1) + " against forward on as many rows";
      if (!expectClose(place(entry, seed, int(output)), got[output],
                       lastRow(expected[output], hasRows(output), row + 1), columns(output)))
        return;
    }
  }
}

// Contexts come in chunks, one by one and none, with queries in between: each sees what is there. In these graphs
// nothing is kept of a query that depends on the context, so that forward on what has been fed is what a step gives.
TEST_P(step_equals_forward_with_contexts, that_arrive_between_the_queries) {
  const uint64_t seed = 23;
  const DeclaredGraph &graph = model().graph;
  Sequence sequence = randomSequence(longest, seed);
  Stream stream(opened(), 40);
  int64_t row = 0, context = 0;
  for (int64_t count : {0, 1, 2, 0, 5, 1, 17, 0, 1, 39, 4}) {
    Sequence fed = sequence;
    for (int number = 1; number < opened().plan().stream_count; ++number) {
      stream.append(number, sequence, context, count);
      fed = graph.part(fed, 0, context + count, opened().axisOf(number));
      ASSERT_EQ(stream.position(number), context + count);
    }
    context += count;
    for (int query = 0; query < 2; ++query, ++row) {
      Outputs got = stream.step(sequence, row);
      Outputs expected = forward(opened(), graph.part(fed, 0, row + 1, stepAxis()));
      for (size_t output = 0; output < got.size(); ++output) {
        std::string entry = "step " + std::to_string(row + 1) + " after " + std::to_string(context) +
                            " rows of context against forward on as many";
        if (!expectClose(place(entry, seed, int(output)), got[output],
                         lastRow(expected[output], hasRows(output), row + 1), columns(output)))
          return;
      }
    }
  }
  ASSERT_EQ(context, longest);
}

TEST_P(step_equals_forward_with_contexts, which_no_step_and_no_advance_changes) {
  const uint64_t seed = 25;
  Sequence sequence = randomSequence(samples, seed);
  Stream stream(opened(), samples);
  stream.appendContexts(sequence);
  auto contextBytes = [&] {
    std::string state = stream.stateBytes(), bytes;
    const burin_plan &plan = opened().plan();
    for (const burin_plan_state_value &value : llvm::ArrayRef(plan.state_values, plan.state_value_count))
      if (value.stream > 0)
        bytes += state.substr(value.offset, value.bytes);
    return bytes;
  };
  std::string before = contextBytes();
  ASSERT_FALSE(before.empty());
  stream.step(sequence, 0);
  stream.advance(sequence, 1, 20);
  stream.step(sequence, 21);
  EXPECT_TRUE(contextBytes() == before) << "the context has changed\nrerun: " << rerunCommand();
  for (int number = 1; number < opened().plan().stream_count; ++number)
    EXPECT_EQ(stream.position(number), samples) << rerunCommand();
}
