// From a graph to files: the passes, the kernels, the object, the header.
#pragma once

#include "emit/model_plan.h"
#include "emit/runtime.h"
#include "emit/target_list.h"
#include "emit/tuned_schedules.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace burin {

struct CompileOptions {
  std::string target = "host"; // one, or several for one object: emit/target_list.h
  std::string outputFolder;    // made if it does not exist; files are replaced only when all went well
  Runtime runtime = Runtime::hosted;
  bool sharedLibrary = false; // also <model>.so, with the runtime in it
  unsigned jobs = 0;          // kernel workers at once; 0: as many as processors
  bool useCache = true;       // of compiled kernels
  std::string cacheFolder;    // empty: the default
  TuningSource tuning;        // where parameters of schedules come from
  std::function<void(llvm::StringRef what, int done, int total)> progress;
  std::function<void(llvm::StringRef)> warn; // a sentence each
};

struct PhaseTime {
  std::string phase;
  double seconds;
};

struct KernelReport {
  std::string function, symbol, kernelClass;
  int64_t heapBytes = 0, stackBytes = 0, objectBytes = 0;
  double seconds = 0; // to compile; 0 when it came from the cache
  bool cached = false;
  std::vector<ScheduleVariant> variants; // sizes above are those of all
};

struct CompileResult {
  std::string objectPath, headerPath, sharedLibraryPath;
  ModelPlan plan;                   // of the preferred target
  std::vector<ModelPlan> fallbacks; // of the others, the preferred first
  std::vector<PhaseTime> times;
  std::vector<KernelReport> kernels;
};

/// Runs the passes on `module` in place (on copies for all targets but the first) and writes <model>.o and <model>.h.
/// Errors in the graph go to the context's diagnostics; the returned error then only says that there were some.
llvm::Expected<CompileResult> compileModel(mlir::ModuleOp module, const CompileOptions &options);

/// Only the passes: what `inspect` shows.
llvm::Error runPasses(mlir::ModuleOp module, const Target &target, const TunedSchedules &tuned = {});

} // namespace burin
