// One kernel timed alone, against the FMA peak of the same run: the number that schedules are judged by.
#pragma once

#include "schedules/targets.h"
#include "tools/progress.h"
#include "llvm/Support/Error.h"

namespace burin {

struct KernelBenchOptions {
  std::string kernel; // "contract"
  std::string size;   // "MxKxN": rows, input features, output features
  unsigned jobs = 0;
  bool json = false;
};

/// Prints GFLOP/s, the peak, and on the last line the kernel's part of it.
llvm::Error benchKernel(const KernelBenchOptions &options, const Target &target, Progress &progress);

} // namespace burin
