// Compares one golden case with its compiled graph, in every way that the case and the graph allow.
#pragma once

#include "schedules/targets.h"
#include "tools/comparison.h"
#include "tools/golden_case.h"
#include "tools/progress.h"

namespace burin {

/// What a case is compiled for, once, and which of these targets it is opened for, one after another.
struct CheckedTarget {
  std::string compiledFor; // a --target
  std::vector<const Target *> run;
};

/// Builds, compiles and runs the case for the targets; a comparison per line into the report. An error is a case that
/// could not be compared. `weights` is a safetensors file that has the parameters by their own names, or empty: then
/// the case has them.
llvm::Error checkCase(llvm::StringRef path, llvm::StringRef weights, const CheckedTarget &target,
                      std::optional<Precision> precision, unsigned jobs, ComparisonReport &report, Progress &progress);

} // namespace burin
