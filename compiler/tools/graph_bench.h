// The latency of a graph's entry points and kernels, and what part of the FMA peak they reach.
#pragma once

#include "schedules/targets.h"
#include "tools/compiled_model.h"
#include "tools/latency.h"
#include "tools/progress.h"

namespace burin {

struct KernelTimes {
  std::string function, kernelClass;
  double calls = 0;         // in a call of the entry; part of one where a gate is closed now and then
  double seconds = 0;       // of all of them, the mean
  double part = 0;          // of the time in kernels
  double percentOfPeak = 0; // 0 where nothing is multiplied
};

struct EntryTimes {
  std::string entry, what; // "forward", "forward, time 64"
  Latency latency;
  double flops = 0, percentOfPeak = 0;
  double peak = 0; // GFLOP/s of multiply-adds, measured before the entries
  std::vector<KernelTimes> kernels;
};

/// Rows of each time symbol, in the plan's order.
using Rows = std::vector<int64_t>;

/// The largest sequence that the graph takes.
Rows mostRows(const burin_plan &plan);

/// Times forward, at each of `lengths`, and one row of each stream along whole sequences, of an opened model, on inputs
/// from a seed. `module` is what the passes left of its graph; `take` is given the entries as they come.
llvm::Error timeGraph(CompiledModel &model, mlir::ModuleOp module, llvm::ArrayRef<Rows> lengths, const Target &target,
                      Progress &progress, const std::function<void(const EntryTimes &)> &take);

struct GraphBenchOptions {
  std::vector<int64_t> times; // rows at which forward is timed; empty: the largest number and some below
  bool json = false;          // an object per line
  int threads = 1;            // that forward was opened with
};

/// Prints what timeGraph gives.
llvm::Error benchGraph(CompiledModel &model, mlir::ModuleOp module, const GraphBenchOptions &options,
                       const Target &target, Progress &progress);

} // namespace burin
