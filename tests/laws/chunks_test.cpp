// Laws 3 and 4: a stream that is cut into chunks gives what single steps give, bit for bit, however it is cut.
#include "law_graphs.h"
#include <numeric>

using namespace burin;
using namespace burin::laws;

using Sizes = std::vector<int64_t>;

/// `count` rows in chunks of a size.
static Sizes chunksOf(int64_t size, int64_t count) {
  Sizes sizes(count / size, size);
  if (count % size)
    sizes.push_back(count % size);
  return sizes;
}

/// Ways to cut a stream of `count` rows: ones, twos, a prime, whole, and all of it mixed with chunks of no rows.
static std::vector<std::pair<std::string, Sizes>> waysToCut(int64_t count) {
  Sizes mixed{0, 1, 2, 5, 0, 17, 1, 1, 33};
  mixed.push_back(count - std::accumulate(mixed.begin(), mixed.end(), int64_t(0)));
  return {{"chunks of 1", chunksOf(1, count)},
          {"chunks of 2", chunksOf(2, count)},
          {"chunks of 7", chunksOf(7, count)},
          {"one chunk", {count}},
          {"chunks of 0, 1, 2, 5, 0, 17, 1, 1, 33 and the rest", mixed}};
}

class Chunks : public Law {
protected:
  static constexpr uint64_t seed = 21;

  /// What single steps give for all rows of a sequence, row after row.
  static std::vector<Outputs> steps(const Sequence &sequence, Stream &stream) {
    std::vector<Outputs> rows;
    for (int64_t row = 0; row < longest; ++row)
      rows.push_back(stream.step(sequence, row));
    return rows;
  }

  /// Rows [first, first + count) of the outputs, bit for bit.
  bool expectRows(const std::string &entry, const Outputs &got, const std::vector<Outputs> &expected, int64_t first,
                  int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      for (size_t output = 0; output < got.size(); ++output) {
        const std::vector<float> &row = expected[first + i][output];
        Case test = place(entry + ", row " + std::to_string(first + i), seed, int(output));
        if (!expectSameBits(test, llvm::ArrayRef(got[output]).slice(i * row.size(), row.size()), row, columns(output)))
          return false;
      }
    return true;
  }

  /// Every value of two states, in plain row order.
  bool expectStates(const std::string &entry, const Stream &got, const Stream &expected) {
    const burin_plan &plan = opened().plan();
    for (const burin_plan_state_value &value : llvm::ArrayRef(plan.state_values, plan.state_value_count)) {
      Case test = place(entry + ", state value " + value.name, seed);
      if (!expectSameBits(test, got.read(value.name), expected.read(value.name), value.features))
        return false;
    }
    return true;
  }
};

class chunks : public Chunks {};
INSTANTIATE_TEST_SUITE_P(, chunks, testing::ValuesIn(lawCases([](const LawGraph &graph) { return graph.streams; })),
                         laws::nameOf);
class chunks_of_contexts : public Chunks {};
INSTANTIATE_TEST_SUITE_P(, chunks_of_contexts,
                         testing::ValuesIn(lawCases([](const LawGraph &graph) { return graph.contexts; })),
                         laws::nameOf);

TEST_P(chunks, give_what_steps_give_bit_for_bit) {
  Sequence sequence = randomSequence(longest, seed);
  Stream single(opened(), longest);
  single.appendContexts(sequence);
  std::vector<Outputs> expected = steps(sequence, single);
  for (const auto &[name, sizes] : waysToCut(longest)) {
    Stream stream(opened(), longest);
    stream.appendContexts(sequence);
    int64_t first = 0;
    for (int64_t count : sizes) {
      Outputs got = stream.advance(sequence, first, count);
      if (!expectRows("advance in " + name, got, expected, first, count))
        return;
      first += count;
      ASSERT_EQ(stream.position(), first);
    }
    if (!expectStates("advance in " + name, stream, single))
      return;
  }
}

/// Kernels that run during `call`.
static int kernelsIn(llvm::function_ref<void()> call) {
  static int count;
  count = 0;
  burin_rt_probe = [](const burin_plan_call *, int finished) { count += finished; };
  call();
  burin_rt_probe = nullptr;
  return count;
}

// Rows of a chunk go through each kernel together, but for latent queries, which read a prefix for every row.
TEST_P(chunks, are_taken_at_once) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  const burin_plan &plan = opened().plan();
  Sequence sequence = randomSequence(longest, seed);
  Stream stream(opened(), longest);
  for (int number = 0; number < plan.stream_count; ++number) {
    const burin_plan_stream &its = plan.streams[number];
    ASSERT_EQ(its.many == nullptr, law().latents && number == 0) << rerunCommand();
    if (!its.many)
      continue;
    EXPECT_GE(its.most_rows, 16) << rerunCommand();
    stream.feed(sequence, 0, its.most_rows, number);
    EXPECT_LE(kernelsIn([&] { require("advance", stream.advance(its.most_rows, number)); }), its.many->call_count)
        << its.most_rows << " rows of " << its.name << "\nrerun: " << rerunCommand();
  }
}

// A single step and a chunk may stand in any order.
TEST_P(chunks, and_single_steps_mix) {
  Sequence sequence = randomSequence(longest, seed);
  Stream single(opened(), longest), stream(opened(), longest);
  for (Stream *each : {&single, &stream})
    each->appendContexts(sequence);
  std::vector<Outputs> expected = steps(sequence, single);
  int64_t first = 0;
  for (int64_t count : {1, 3, 1, 1, 30, 1, 5, 1, 1, 26}) {
    Outputs got = count == 1 ? stream.step(sequence, first) : stream.advance(sequence, first, count);
    if (!expectRows((count == 1 ? "step" : "advance by ") + std::to_string(count), got, expected, first, count))
      return;
    first += count;
  }
  ASSERT_EQ(first, longest);
}

// With less scratch fewer rows are taken at once; with scratch for one, each of them as by a step.
TEST_P(chunks, need_no_more_scratch_than_a_step) {
  Sequence sequence = randomSequence(longest, seed);
  Stream single(opened(), longest);
  single.appendContexts(sequence);
  std::vector<Outputs> expected = steps(sequence, single);
  for (int64_t rows : {1, 3}) {
    Stream stream(opened(), longest, Placement::anywhere, /*scratchRows=*/rows);
    stream.appendContexts(sequence);
    Outputs got = stream.advance(sequence, 0, longest);
    std::string entry = "advance by 70 with scratch for " + std::to_string(rows);
    if (!expectRows(entry, got, expected, 0, longest) || !expectStates(entry, stream, single))
      return;
  }
}

// What is appended in chunks is what is appended row by row, and so is what queries see of it.
TEST_P(chunks_of_contexts, are_the_rows_one_by_one) {
  Sequence sequence = randomSequence(longest, seed);
  Stream single(opened(), 1);
  single.appendContexts(sequence);
  std::vector<Outputs> expected = steps(sequence, single);
  for (const auto &[name, sizes] : waysToCut(longest)) {
    Stream stream(opened(), longest);
    for (int number = 1; number < opened().plan().stream_count; ++number) {
      int64_t first = 0;
      for (int64_t count : sizes) {
        stream.feed(sequence, first, count, number);
        require("append", stream.advance(count, number));
        first += count;
        ASSERT_EQ(stream.position(number), first);
      }
    }
    Outputs got = stream.advance(sequence, 0, longest);
    std::string entry = "advance after a context in " + name;
    if (!expectRows(entry, got, expected, 0, longest) || !expectStates(entry, stream, single))
      return;
  }
}
