// The latency of a graph's entry points and kernels, and what part of the FMA peak they reach.
#pragma once

#include "schedules/targets.h"
#include "tools/compiled_model.h"
#include "tools/progress.h"

namespace burin {

struct GraphBenchOptions {
  std::vector<int64_t> times; // rows at which forward is timed; empty: the largest number and some below
  bool json = false;          // an object per line
};

/// Times forward and step (along whole sequences) of an opened model, on inputs from a seed. `module` is what the
/// passes left of its graph.
llvm::Error benchGraph(CompiledModel &model, mlir::ModuleOp module, const GraphBenchOptions &options,
                       const Target &target, Progress &progress);

} // namespace burin
