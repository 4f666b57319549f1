// Law 4: same input, same bits: alone, in a batch, in a longer run, again, and on targets that share a numeric form.
#include "law_graphs.h"
#include <cmath>

using namespace burin;
using namespace burin::laws;

BURIN_LAW(same_bits, [](const LawGraph &) { return true; });
BURIN_LAW(same_bits_of_rows, [](const LawGraph &graph) { return graph.rowWise; });
BURIN_LAW(same_bits_of_prefixes, [](const LawGraph &graph) { return graph.streams; });

class same_bits_of_targets : public Law {};
INSTANTIATE_TEST_SUITE_P(, same_bits_of_targets,
                         testing::ValuesIn(casesOfSharedForm([](const LawGraph &) { return true; })), laws::nameOf);

TEST_P(same_bits, in_a_batch_as_alone) {
  const std::vector<std::vector<int64_t>> oneAxis = {{5}, {3}, {1}, {0}, {33}},
                                          twoAxes = {{5, 3}, {3, 5}, {1, 1}, {0, 2}, {2, 0}, {33, 34}};
  uint64_t seed = 30;
  std::vector<Sequence> sequences;
  for (const std::vector<int64_t> &lengths : signature().axes.size() == 1 ? oneAxis : twoAxes)
    sequences.push_back(model().graph.randomSequence(lengths, ++seed));
  std::vector<Outputs> got = forwardBatch(opened(), sequences);
  for (size_t i = 0; i < sequences.size(); ++i) {
    Outputs expected = forward(opened(), sequences[i]);
    for (size_t output = 0; output < expected.size(); ++output)
      if (!expectSameBits(place("forward_batch, sequence " + std::to_string(i), 31 + i, int(output)), got[i][output],
                          expected[output], columns(output)))
        return;
  }
}

TEST_P(same_bits, beside_a_sequence_of_junk) {
  const uint64_t seed = 38;
  std::vector<int64_t> lengths(signature().axes.size(), 7);
  Sequence sequence = model().graph.randomSequence(lengths, seed), junk = sequence;
  for (InputValues &input : junk.inputs)
    std::fill(input.floats.begin(), input.floats.end(), std::nanf(""));
  std::vector<Outputs> got = forwardBatch(opened(), {junk, sequence, junk});
  Outputs expected = forward(opened(), sequence);
  for (size_t output = 0; output < expected.size(); ++output)
    if (!expectSameBits(place("forward_batch, between two sequences of NaN", seed, int(output)), got[1][output],
                        expected[output], columns(output)))
      return;
}

TEST_P(same_bits, when_it_runs_again_and_when_it_is_opened_again) {
  const uint64_t seed = 40;
  std::vector<int64_t> lengths(signature().axes.size(), 19);
  Sequence sequence = model().graph.randomSequence(lengths, seed);
  OpenedModel again(model().compiled, model().graph, model().weights);
  Outputs expected = forward(opened(), sequence);
  for (const OpenedModel *model : {&opened(), &static_cast<const OpenedModel &>(again)}) {
    Outputs got = forward(*model, sequence);
    for (size_t output = 0; output < expected.size(); ++output)
      if (!expectSameBits(place("forward", seed, int(output)), got[output], expected[output], columns(output)))
        return;
  }
}

// The second run sees what is in the buffers then (Halide#5443).
TEST_P(same_bits, when_buffers_are_filled_again_in_place) {
  Sequence first = randomSequence(19, 41), second = randomSequence(19, 42);
  ForwardCall call(opened(), first);
  require("forward", call.run());
  for (const Sequence *sequence : {&second, &first}) {
    call.refill(*sequence);
    require("forward", call.run());
    if (!expectSameOutputs("forward, run again", sequence == &first ? 41 : 42, call.results()[0],
                           forward(opened(), *sequence)))
      return;
  }
}

TEST_P(same_bits, on_any_number_of_threads) {
  if (!isInThisProcess(target()))
    GTEST_SKIP() << "an emulated model has one thread";
  uint64_t seed = 45;
  std::vector<Sequence> sequences;
  for (int64_t rows : {longest, int64_t(5), int64_t(0), longest - 1, int64_t(33), int64_t(1)})
    sequences.push_back(randomSequence(rows, ++seed));
  std::vector<Outputs> expected = forwardBatch(opened(), sequences);
  for (int threads = 2; threads <= 7; ++threads) {
    OpenedModel model(this->model().compiled, this->model().graph, this->model().weights, nullptr, threads);
    std::string entry = " on " + std::to_string(threads) + " threads";
    std::vector<Outputs> batch = forwardBatch(model, sequences);
    for (size_t i = 0; i < sequences.size(); ++i) {
      Outputs alone = forward(model, sequences[i]);
      for (size_t output = 0; output < alone.size(); ++output)
        if (!expectSameBits(place("forward_batch" + entry, 46 + i, int(output)), batch[i][output], expected[i][output],
                            columns(output)) ||
            !expectSameBits(place("forward" + entry, 46 + i, int(output)), alone[output], expected[i][output],
                            columns(output)))
          return;
    }
  }
}

TEST_P(same_bits_of_targets, that_share_a_numeric_form) {
  const Target &other = firstOfItsForm(target());
  const OpenedModel &expectedModel = LawModel::of(law(), other).opened;
  uint64_t seed = 50;
  for (const std::vector<int64_t> &lengths : oddLengths(signature())) {
    Sequence sequence = model().graph.randomSequence(lengths, ++seed);
    Outputs got = forward(opened(), sequence), expected = forward(expectedModel, sequence);
    for (size_t output = 0; output < expected.size(); ++output)
      if (!expectSameBits(place("forward against " + other.name.str(), seed, int(output)), got[output],
                          expected[output], columns(output)))
        return;
  }
  if (!opened().hasStep())
    return;
  Sequence sequence = randomSequence(37, ++seed);
  Stream stream(opened(), 37), expectedStream(expectedModel, 37);
  for (Stream *each : {&stream, &expectedStream})
    each->appendContexts(sequence);
  for (int64_t row = 0; row < 37; ++row) {
    Outputs got = stream.step(sequence, row), expected = expectedStream.step(sequence, row);
    for (size_t output = 0; output < expected.size(); ++output)
      if (!expectSameBits(place("step " + std::to_string(row + 1) + " against " + other.name.str(), seed, int(output)),
                          got[output], expected[output], columns(output)))
        return;
  }
}

TEST_P(same_bits_of_rows, whatever_their_number) {
  const uint64_t seed = 70;
  const DeclaredGraph &graph = model().graph;
  Sequence all = graph.randomSequence({40}, seed);
  Outputs expected = forward(opened(), all);
  for (int64_t count = 1; count <= 17; ++count)
    for (int64_t first : {int64_t(0), 23 - count, 40 - count}) {
      Outputs got = forward(opened(), graph.part(all, first, count));
      for (size_t output = 0; output < expected.size(); ++output) {
        auto rows = llvm::ArrayRef(expected[output]).slice(first * columns(output), count * columns(output));
        std::string entry =
            "forward, rows " + std::to_string(first) + " to " + std::to_string(first + count) + " of 40 alone";
        if (!expectSameBits(place(entry, seed, int(output)), got[output], rows, columns(output)))
          return;
      }
    }
}

// What looks back depends on the rows so far, and not on those that follow.
TEST_P(same_bits_of_prefixes, whatever_follows) {
  const uint64_t seed = 80;
  const DeclaredGraph &graph = model().graph;
  Sequence all = randomSequence(longest, seed);
  Outputs expected = forward(opened(), all);
  for (int64_t count : {1, 2, 5, 8, 12, 13, 31, 32, 33, 47, 64, 69}) {
    Outputs got = forward(opened(), graph.part(all, 0, count, stepAxis()));
    for (size_t output = 0; output < expected.size(); ++output) {
      if (!hasRows(output))
        continue;
      auto rows = llvm::ArrayRef(expected[output]).take_front(count * columns(output));
      if (!expectSameBits(place("forward, the first " + std::to_string(count) + " rows of 70", seed, int(output)),
                          got[output], rows, columns(output)))
        return;
    }
  }
}

// A step in one kernel and a step in several are one computation.
TEST(same_bits_of_whole, as_of_separate_kernels) {
  const LawGraph &whole = lawGraph("causal_encoder"), &separate = lawGraph("causal_encoder_in_separate_kernels");
  const uint64_t seed = 90;
  for (const Target &target : allTargets()) {
    if (!whyNotTested(target).empty() || !target.device.empty()) // on a GPU no step is one kernel
      continue;
    const LawModel &one = LawModel::of(whole, target), &several = LawModel::of(separate, target);
    ASSERT_EQ(one.opened.plan().streams[0].one->call_count, 1);
    ASSERT_GT(several.opened.plan().streams[0].one->call_count, 10);
    Sequence sequence = several.graph.randomSequence({37}, seed);
    Stream stream(one.opened), expectedStream(several.opened);
    for (int64_t row = 0; row < 37; ++row) {
      Outputs got = stream.step(sequence, row), expected = expectedStream.step(sequence, row);
      Case test{whole.name, target.name.str(), "step " + std::to_string(row + 1) + " against separate kernels", seed};
      if (!expectSameBits(test, got[0], expected[0], int64_t(got[0].size())))
        return;
    }
  }
}
