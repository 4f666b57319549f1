// Rows that quantise badly: kernels in int8 do with them what dialect/int8.h says, on every target.
#include "graph_builder.h"
#include "law_graphs.h"
#include <cmath>
#include <limits>

using namespace burin;
using namespace burin::laws;

class int8_rows : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, int8_rows, testing::ValuesIn(targetNames()), nameOfTarget);

static constexpr int64_t inputs = 130, outputs = 33; // two groups, neither of whole vectors

static Graph oneContract() {
  Builder b;
  b.output(b.project(b.input(inputs), outputs));
  return b.take();
}

static std::vector<float> badRows() {
  constexpr float largest = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN(), least = std::numeric_limits<float>::denorm_min();
  // A row: most of its values in turn, and two that stand out, near its beginning and its end.
  const std::vector<std::tuple<std::vector<float>, float, float>> rows = {
      {{0.0f}, 0.0f, 0.0f},                      // nothing
      {{0.0f}, 5.0f, 0.0f},                      // the outlier alone
      {{0.5f, -0.25f}, 1e6f, 0.5f},              // an outlier that would cost the others all their bits
      {{0.5f, -0.25f}, 1e6f, -1e6f},             // two: the first of them is taken out
      {{1.0f}, 1.0f, 1.0f},                      // all equal
      {{-0.125f, -1.0f}, -0.5f, -0.75f},         // no positive value
      {{0.0f, -0.0f}, -0.0f, 0.0f},              // zeros of both signs
      {{1e-35f, -1e-35f}, 2e-35f, 0.0f},         // below where an inverse is a float32
      {{least}, least, -least},                  // denormal
      {{largest, -1.0f}, 1.0f, 0.0f},            // the largest float
      {{0.5f, -1.5f, 2.5f, 3.5f}, 127.0f, 0.0f}, // ties
      {{1.0f, -1.0f}, nan, 0.0f},                // not a number, where an outlier may be
      {{1.0f, -1.0f}, nan, nan},                 // and where it is not
      {{1.0f, -1.0f}, infinity, 0.0f},
      {{1.0f, -1.0f}, infinity, -infinity},
  };
  std::vector<float> values;
  for (const auto &[most, early, late] : rows)
    for (int64_t k = 0; k < inputs; ++k)
      values.push_back(k == 1 ? early : k == inputs - 2 ? late : most[k % most.size()]);
  return values;
}

TEST_P(int8_rows, are_what_the_reference_says) {
  const Target &target = *findTarget(GetParam());
  if (std::string why = whyNotTested(target); !why.empty())
    GTEST_SKIP() << why;
  if (!computesIn(target, Precision::Int8))
    GTEST_SKIP() << target.name.str() << " does not compute in int8";
  DeclaredGraph graph(oneContract(), Precision::Int8);
  CompiledGraph compiled(graph, target);
  Weights weights = graph.randomWeights(3);
  OpenedModel model(compiled, graph, weights);
  std::vector<float> rows = badRows();
  for (int64_t row = 0; row < int64_t(rows.size()) / inputs; ++row) { // each alone: the tolerance is relative
    Sequence sequence;
    sequence.rows = {1};
    sequence.inputs.emplace_back(std::vector<float>(rows.begin() + row * inputs, rows.begin() + (row + 1) * inputs));
    Outputs got = forward(model, sequence);
    HostTensor expected = graph.evaluate(weights, sequence)[0];
    for (int64_t n = 0; n < outputs; ++n) { // what float32 cannot hold is infinite or, after differences, not a number
      if (std::isfinite(float(expected(n))))
        continue;
      EXPECT_FALSE(std::isfinite(got[0][n])) << "row " << row << ", column " << n << ": expected " << expected(n)
                                             << ", got " << got[0][n] << "\nrerun: " << rerunCommand();
    }
    if (llvm::all_of(expected.values(), [](double value) { return std::isfinite(float(value)); }))
      expectClose({"dense in int8", target.name.str(), "forward of bad row " + std::to_string(row)}, got[0],
                  expected.values(), outputs);
  }
}
