// Law 8: nothing is trusted that was not compared.
#include "law_graphs.h"

using namespace burin;
using namespace burin::laws;

BURIN_LAW(kernel_matches_reference, [](const LawGraph &) { return true; });

TEST_P(kernel_matches_reference, at_odd_sizes) {
  uint64_t seed = 10;
  for (const std::vector<int64_t> &lengths : oddLengths(signature())) {
    Sequence sequence = model().graph.randomSequence(lengths, ++seed);
    Outputs got = forward(opened(), sequence);
    std::vector<HostTensor> expected = model().graph.evaluate(model().weights, sequence);
    for (size_t output = 0; output < got.size(); ++output)
      if (!expectClose(place("forward", seed, int(output)), got[output], expected[output].values(), columns(output)))
        return;
  }
}

// One past the maximum is a status, and the maximum is none.
TEST_P(kernel_matches_reference, and_longer_than_the_maximum_is_refused) {
  std::vector<int64_t> lengths;
  for (const Axis &axis : signature().axes)
    lengths.push_back(axis.maximum + 1);
  ForwardCall call(opened(), model().graph.randomSequence(lengths, 1));
  EXPECT_EQ(call.run(), BURIN_TIME_OUT_OF_RANGE) << rerunCommand();
}
