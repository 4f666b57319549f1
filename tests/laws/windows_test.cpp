// What looks back through a window: a band mask in forward; in a stream a ring, which goes round as often as it likes.
#include "graph_builder.h"
#include <cmath>

using namespace burin;
using namespace burin::laws;

static constexpr int64_t windows[] = {1, 2, 5, 31, 32, 33, 200};

/// Attention with every window, either as such or as a mask.
static Graph windowedGraph(bool causal, bool asMask) {
  Builder b;
  TimeAxis keys = b.context();
  Tensor q = b.input(10), k = b.input(keys, 10), v = b.input(keys, 33);
  for (int64_t window : windows) {
    AttentionOptions options{.heads = 1};
    if (asMask) {
      options.mask = b.graph.mask("mask" + std::to_string(window), {b.time, keys});
    } else {
      options.causal = causal;
      options.window = window;
    }
    b.output(attention(q, k, v, options));
  }
  return b.take();
}

/// Query i is at key `keys` − `queries` + i, and sees no key up to `window` before it.
static std::vector<uint8_t> bandOf(int64_t window, bool causal, int64_t queries, int64_t keys) {
  std::vector<uint8_t> mask;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0, at = keys - queries + query; key < keys; ++key)
      mask.push_back(key > at - window && (!causal || key <= at));
  return mask;
}

class windows_of_forward : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, windows_of_forward, testing::ValuesIn(targetNames()), nameOfTarget);

TEST_P(windows_of_forward, are_band_masks) {
  const Target &target = *findTarget(GetParam());
  if (std::string why = whyNotTested(target); !why.empty())
    GTEST_SKIP() << why;
  for (bool causal : {true, false}) {
    DeclaredGraph graph(windowedGraph(causal, false)), masked(windowedGraph(causal, true));
    CompiledGraph compiled(graph, target), compiledMasked(masked, target);
    OpenedModel model(compiled, graph, {}), maskedModel(compiledMasked, masked, {});
    uint64_t seed = 60;
    for (auto [queries, keys] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {7, 7}, {33, 33}, {70, 70}, {7, 40}, {1, 70}, {40, 7}, {70, 33}, {3, 0}}) {
      Sequence sequence = graph.randomSequence({queries, keys}, ++seed), withMasks = sequence;
      for (int64_t window : windows)
        withMasks.inputs.emplace_back(bandOf(window, causal, queries, keys));
      Outputs got = forward(model, sequence), expected = forward(maskedModel, withMasks);
      for (size_t output = 0; output < got.size(); ++output) {
        Case test{std::string(causal ? "causal " : "") + "attention of window " + std::to_string(windows[output]),
                  target.name.str(),
                  "forward of " + std::to_string(queries) + " queries and " + std::to_string(keys) + " keys", seed};
        if (!expectClose(test, got[output], expected[output], 33, 1e-6))
          return;
      }
    }
  }
}

BURIN_LAW(windows_of_streams, [](const LawGraph &graph) { return graph.reach > 0; });

static constexpr int64_t laps = 300; // rows: several times round any ring

TEST_P(windows_of_streams, have_no_end) {
  EXPECT_EQ(opened().plan().streams[0].capacity, -1) << rerunCommand();
  const uint64_t seed = 61;
  Sequence sequence = randomSequence(laps, seed);
  Stream steps(opened()), chunks(opened(), 37);
  for (int64_t first = 0; first < laps; first += 37) {
    int64_t count = std::min<int64_t>(37, laps - first);
    Outputs got = chunks.advance(sequence, first, count);
    for (int64_t i = 0; i < count; ++i) {
      Outputs expected = steps.step(sequence, first + i);
      for (size_t output = 0; output < got.size(); ++output) {
        auto row = llvm::ArrayRef(got[output]).slice(i * columns(output), columns(output));
        if (!expectSameBits(place("advance by 37 against step " + std::to_string(first + i + 1), seed, int(output)),
                            row, expected[output], columns(output)))
          return;
      }
    }
  }
}

// The reference has no longest sequence: it is given all rows so far.
TEST_P(windows_of_streams, give_what_forward_gives_on_all_rows) {
  const uint64_t seed = 62;
  Sequence sequence = randomSequence(laps, seed);
  Stream stream(opened());
  std::vector<HostTensor> expected = model().graph.evaluate(model().weights, sequence);
  for (int64_t row = 0; row < laps; ++row) {
    Outputs got = stream.step(sequence, row);
    for (size_t output = 0; output < got.size(); ++output) {
      auto rowExpected =
          llvm::ArrayRef<double>(expected[output].values()).slice(row * columns(output), columns(output));
      if (!expectClose(place("step " + std::to_string(row + 1) + " against the reference", seed, int(output)),
                       got[output], rowExpected, columns(output)))
        return;
    }
  }
}

// Behind the reach of all windows nothing is left of a stream: a fresh one that begins there is the same.
TEST_P(windows_of_streams, forget_what_no_window_reaches) {
  const uint64_t seed = 63;
  const int64_t reach = law().reach;
  Sequence sequence = randomSequence(laps, seed);
  Stream stream(opened());
  for (int64_t row = 0; row < laps; ++row) {
    Outputs expected = stream.step(sequence, row);
    if (row + 1 < reach || (row % 37 && row + 1 != laps && row + 1 != reach))
      continue;
    Stream fresh(opened());
    require("reset", fresh.reset(row + 1 - reach));
    Outputs got;
    for (int64_t i = row + 1 - reach; i <= row; ++i)
      got = fresh.step(sequence, i);
    ASSERT_EQ(fresh.position(), stream.position());
    for (size_t output = 0; output < got.size(); ++output)
      if (!expectClose(place("step " + std::to_string(row + 1) + " against a stream of its last " +
                                 std::to_string(reach) + " rows",
                             seed, int(output)),
                       got[output], expected[output], columns(output)))
        return;
  }
}

// And no row behind the reach has any influence, not even one that is no number.
TEST_P(windows_of_streams, do_not_see_what_is_behind_them) {
  const uint64_t seed = 64;
  const int64_t reach = law().reach, bad = 40;
  Sequence sequence = randomSequence(laps, seed), junk = sequence;
  for (InputValues &input : junk.inputs) {
    size_t width = input.floats.size() / laps;
    std::fill_n(input.floats.begin() + bad * width, width, std::nanf(""));
  }
  Stream stream(opened()), withJunk(opened());
  for (int64_t row = 0; row < laps; ++row) {
    Outputs expected = stream.step(sequence, row), got = withJunk.step(junk, row);
    if (row >= bad && row < bad + reach)
      continue;
    if (!expectSameOutputs("step " + std::to_string(row + 1) + ", a row of NaN at " + std::to_string(bad), seed, got,
                           expected))
      return;
  }
}
