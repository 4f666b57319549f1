// The latency of a graph's entry points and kernels, and what part of the FMA peak they reach.
#pragma once

#include "schedules/targets.h"
#include "tools/graph_source.h"
#include "tools/progress.h"

namespace burin {

struct GraphBenchOptions {
  unsigned jobs = 0;
  bool json = false; // an object per line
};

/// Times forward at the largest number of rows and at some below, and step along whole sequences, on weights and inputs
/// from a seed.
llvm::Error benchGraph(const LoadedGraph &graph, const GraphBenchOptions &options, const Target &target,
                       Progress &progress);

} // namespace burin
