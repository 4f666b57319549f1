// What a fresh process needs before it has a result: time and memory to open a model, from a safetensors file and from
// a packed one. The files are in the page cache, as they are for every process but the first after a boot.
#pragma once

#include "runtime/burin_plan.h"
#include "tools/graph_source.h"
#include "tools/progress.h"

namespace burin {

struct StartUpBenchOptions {
  std::string target, weights; // the safetensors file
  unsigned jobs = 0;
  bool json = false;
};

/// Processes of start_up_probe.c: opening, and forward on a sequence of 32 rows. The graph, whose plan for the target
/// is `plan`, is compiled to a library for them, and taken apart by that.
llvm::Error benchStartUp(const LoadedGraph &graph, const burin_plan &plan, const StartUpBenchOptions &options,
                         Progress &progress);

} // namespace burin
