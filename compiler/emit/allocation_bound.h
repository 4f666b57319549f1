// How much memory a lowered kernel takes at most, at any size of its arguments.
#pragma once

#include "Halide.h"
#include <cstdint>
#include <map>
#include <string>

namespace burin {

struct AllocationBound {
  int64_t heapBytes = 0;   // through halide_malloc, at once
  int64_t stackBytes = 0;  // of its own buffers
  int64_t sharedBytes = 0; // of a block of threads on a GPU
  std::string unbounded;   // the first allocation without a bound; empty: none
};

/// `maxima`: the most that each symbol of the kernel stands for.
AllocationBound boundAllocations(const Halide::Internal::LoweredFunc &kernel,
                                 const std::map<std::string, int64_t> &maxima);

} // namespace burin
