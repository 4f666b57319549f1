// Compiles kernels to objects, each in a process of its own, a child of the running executable started again
// (emit/worker_processes.h).
//
// Why processes: Halide's names are global to a process, so a kernel compiled after another gets other bytes. A fresh
// worker makes objects reproducible and the cache sound, and a kernel that takes too long can be ended.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "schedules/parameters.h"
#include "schedules/targets.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace burin {

/// A kernel as a worker reads it.
struct KernelSource {
  std::string symbol;                 // of the object's entry; Halide's argv form is `symbol`_argv
  std::string function;               // in `module`
  std::string module;                 // MLIR text: the kernel and the functions it calls
  ScheduleParameters parameters = {}; // that are not derived
  std::string autoscheduler = {}; // of Halide, in place of the target's schedules (emit/autoschedule.h); empty: none
  int64_t rows = 0;               // that it plans for; of the target's schedules the most of a call, 0: any number
};

struct CompiledKernel {
  std::string object;      // bytes
  int64_t heapBytes = 0;   // most that it allocates at once through halide_malloc, at any size of its arguments
  int64_t stackBytes = 0;  // of its own buffers
  double seconds = 0;      // to compile; 0 from the cache
  ScheduleParameters used; // what the schedules made of the parameters that this kernel has
};

/// The kernel function with what it calls, without locations, so that equal kernels are equal texts.
KernelSource serialiseKernel(mlir::func::FuncOp kernel, llvm::StringRef symbol);

struct KernelCompileOptions {
  std::string cacheFolder; // empty: the default
  bool useCache = true;
  unsigned jobs = 0;               // workers at once; 0: as many as processors
  unsigned timeLimitSeconds = 120; // of a processor, for one kernel
  /// Where it is set, a kernel that fails is told to it and has no object; else the first failure ends everything.
  std::function<void(size_t kernel, llvm::Error)> failed = nullptr;
};

/// Compiles all kernels; results are in the order of `kernels`. `progress` is called as each is done. The error names
/// the kernel.
llvm::Expected<std::vector<CompiledKernel>>
compileKernels(llvm::ArrayRef<KernelSource> kernels, const Target &target, const KernelCompileOptions &options = {},
               llvm::function_ref<void(const KernelSource &, const CompiledKernel &)> progress = nullptr);

/// What compiles kernels, "Halide 21.0.0": a part of a cached kernel's key.
std::string kernelCompilerVersion();

} // namespace burin
