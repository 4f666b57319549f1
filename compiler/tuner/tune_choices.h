// What is chosen for a whole graph (schedules/choices.def): which ops are one kernel, entry by entry, and when a call
// is split among threads. Alternatives are compiled as `burin compile` does, and measured as whole calls.
//
// All kernels have derived schedules while alternatives of kernels are compared, so that none has the advantage of
// records; that stands before kernels are tuned, which says which kernels there are to tune.
#pragma once

#include "schedules/tuner/database.h"
#include "tools/compiled_model.h"
#include "tuner/tune_graph.h"
#include <chrono>

namespace burin {

/// Alternatives of each entry that gives other kernels with them, the derived (nothing chosen) first. Entries without
/// any are left out. `graph` is as it is before the passes.
llvm::Expected<std::map<std::string, std::vector<GraphChoices>>> kernelAlternatives(mlir::ModuleOp graph,
                                                                                    const Target &target);

/// Other numbers for when calls are split, the derived first.
std::vector<GraphChoices> grainAlternatives();

class ChoiceTuner {
public:
  /// `graph` stays as it is.
  ChoiceTuner(mlir::ModuleOp graph, const Target &target, const TuneOptions &options, Progress &progress)
      : graph_(graph), target_(target), options_(options), progress_(progress) {}

  /// Of each entry that has alternatives; those that compile until `end` are measured, one at least.
  llvm::Expected<std::vector<ChoiceResult>> tuneKernels(std::chrono::steady_clock::time_point end);
  /// With options.threads, and with what `database` has for the graph.
  llvm::Expected<ChoiceResult> tuneGrain(const TuningDatabase &database);

private:
  llvm::Expected<std::unique_ptr<CompiledModel>> compile(TuningDatabase records, int threads);
  llvm::Error makeWeights();

  mlir::ModuleOp graph_;
  const Target &target_;
  const TuneOptions &options_;
  Progress &progress_;
  std::string weights_; // of a seed: a time does not depend on values
};

} // namespace burin
