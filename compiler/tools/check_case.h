// Compares one golden case with its compiled graph, in every way that the case and the graph allow.
#pragma once

#include "tools/comparison.h"
#include "tools/golden_case.h"
#include "tools/progress.h"

namespace burin {

/// Builds, compiles and runs the case for the target; a comparison per line into the report. An error is a case that
/// could not be compared. `weights` is a safetensors file that has the parameters by their own names, or empty: then
/// the case has them.
llvm::Error checkCase(llvm::StringRef path, llvm::StringRef weights, llvm::StringRef target, unsigned jobs,
                      ComparisonReport &report, Progress &progress);

} // namespace burin
