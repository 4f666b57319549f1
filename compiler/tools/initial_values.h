// Weights from a seed: what a graph is tried with before it is trained, and what `burin bench` runs on.
//
// The generator is our own, because the standard library leaves its distributions to each implementation: the same seed
// must give the same weights everywhere. Every parameter draws from a stream of its own, keyed by seed and name, so a
// parameter's values do not depend on which others the graph has, or on their order.
#pragma once

#include "tools/graph_signature.h"
#include "tools/progress.h"

namespace burin {

/// SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195), and normal numbers from it by Box and Muller
/// (1958, doi:10.1214/aoms/1177706645).
class RandomStream {
public:
  RandomStream(uint64_t seed, llvm::StringRef name);
  uint64_t next();
  double uniform(); // in (0, 1]
  double normal();  // mean 0, standard deviation 1

private:
  uint64_t state_;
};

/// By the parameter's `init`: `normal` is N(0, 1/fan_in) with the first dimension as fan_in, `positions` N(0, 0.02) (a
/// standard deviation of 0.02), `zeros` and `ones` are what they say.
llvm::Expected<std::vector<float>> initialValues(const GraphParameter &parameter, uint64_t seed);

/// All parameters of a graph as a safetensors file.
llvm::Expected<SafetensorsWriter> initialWeights(const GraphSignature &signature, uint64_t seed, Progress &progress);

/// `count` numbers from N(0, 1), for inputs.
std::vector<float> normalValues(int64_t count, uint64_t seed, llvm::StringRef name);

} // namespace burin
