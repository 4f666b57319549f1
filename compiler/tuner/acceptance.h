// When a winner is accepted: it has to be faster over all sizes that were timed, and slower at none, in each of several
// fresh runs in which it takes turns with the default.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cmath>
#include <cstddef>
#include <vector>

namespace burin {

/// Two percent over all sizes, and one percent lost at none. Measured: minima of fifteen interleaved rounds of the same
/// code differ by less than one percent, also on a machine with other work.
inline constexpr double leastGain = 1.02, mostLoss = 1.01;
inline constexpr int firstRounds = 3, longRounds = 9, confirmRounds = 15, confirmRuns = 2;
inline constexpr double secondsEach =
    200e-6; // of one measurement: long beside a clock's reading, short beside a time slice

/// The geometric mean, over some sizes, of times over the default's.
inline double costOf(const std::vector<double> &seconds, const std::vector<double> &defaults,
                     llvm::ArrayRef<size_t> sizes) {
  double logs = 0;
  for (size_t size : sizes)
    logs += std::log(seconds[size] / defaults[size]);
  return std::exp(logs / double(sizes.size()));
}

/// Whether one run says that a winner is one.
inline bool isBetter(const std::vector<double> &seconds, const std::vector<double> &defaults,
                     llvm::ArrayRef<size_t> sizes, double least = leastGain) {
  for (size_t size : sizes)
    if (!(seconds[size] <= defaults[size] * mostLoss))
      return false;
  return costOf(seconds, defaults, sizes) <= 1 / least;
}

} // namespace burin
