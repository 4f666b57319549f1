// One kernel timed alone, against the FMA peak of the same run: the number that schedules are judged by.
#pragma once

#include "dialect/precision.h"
#include "schedules/targets.h"
#include "tools/progress.h"
#include "llvm/Support/Error.h"

namespace burin {

struct KernelBenchOptions {
  std::string kernel; // "contract"
  std::string size;   // "MxKxN": rows, input features, output features
  Precision precision = Precision::Float32;
  unsigned jobs = 0;
  bool json = false;
};

/// Rows, input features, output features.
struct ContractSize {
  int64_t M, K, N;
};

/// Of one call, and of the machine in the same rounds, in GFLOP/s.
struct ContractTime {
  double seconds, peak;
};

/// One contract with bias, on one thread: the least of several rounds.
llvm::Expected<ContractTime> timeContract(ContractSize size, Precision precision, const Target &target, unsigned jobs,
                                          Progress &progress);

/// Prints GFLOP/s, the peak, and on the last line the kernel's part of it.
llvm::Error benchKernel(const KernelBenchOptions &options, const Target &target, Progress &progress);

} // namespace burin
