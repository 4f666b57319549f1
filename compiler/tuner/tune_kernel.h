// The search for one kernel, all buckets of rows together.
#pragma once

#include "tuner/tune_graph.h"
#include <chrono>

namespace burin {

/// Results of all buckets, the best of each confirmed or the derived; an error where nothing can be measured, or the
/// user ended it. No proposal is compiled after `end`. `tell` is given the state of the search, for people.
llvm::Expected<std::vector<TuneResult>> tuneKernel(TrialBench &bench, const TrialKernel &kernel,
                                                   const TuneOptions &options, const TuningDatabase &database,
                                                   std::chrono::steady_clock::time_point end,
                                                   std::function<void(const std::string &)> tell);

} // namespace burin
