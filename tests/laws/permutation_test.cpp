// Attention knows no order: without positions, permuting the rows permutes the outputs.
#include "law_graphs.h"
#include <numeric>

using namespace burin;
using namespace burin::laws;

BURIN_LAW(permutation, [](const LawGraph &graph) { return graph.unordered; });

TEST_P(permutation, of_rows_permutes_outputs) {
  uint64_t seed = 100;
  for (int64_t length : {2, 7, 33, 40}) {
    Sequence sequence = model().graph.randomSequence({length}, ++seed), permuted = sequence;
    std::vector<int64_t> order(length); // row i of the permuted sequence is row order[i]
    for (int64_t i = 0; i < length; ++i)
      order[i] = (i * 13 + 1) % length; // 13 divides none of the lengths
    auto permute = [&](const auto &from, auto &to) {
      size_t columns = from.size() / length;
      for (int64_t i = 0; i < length; ++i)
        std::copy_n(from.begin() + order[i] * columns, columns, to.begin() + i * columns);
    };
    for (size_t input = 0; input < sequence.inputs.size(); ++input) {
      permute(sequence.inputs[input].floats, permuted.inputs[input].floats);
      permute(sequence.inputs[input].ids, permuted.inputs[input].ids);
    }
    Outputs got = forward(opened(), permuted), plain = forward(opened(), sequence), expected = plain;
    for (size_t output = 0; output < got.size(); ++output) {
      if (hasRows(output))
        permute(plain[output], expected[output]);
      if (!expectClose(place("forward of permuted rows", seed, int(output)), got[output], expected[output],
                       columns(output)))
        return;
    }
  }
}
