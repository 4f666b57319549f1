// The worker's side of compiling kernels (emit/compile_kernels.h): reads a serialised kernel, builds, schedules and
// lowers it, bounds what it allocates, writes an object and a report.
#pragma once

#include "schedules/parameters.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace burin {

/// The hidden command of the tool. A main() calls this first: `if (isKernelWorker(argc, argv)) return
/// runKernelWorker(argc, argv);`.
bool isKernelWorker(int argc, char **argv);
int runKernelWorker(int argc, char **argv);

/// What the tool is called with to be that.
extern const char kernelWorkerFlag[];

/// The files of a kernel's compilation, by what their names have in common.
struct KernelFiles {
  std::string base;
  std::string input() const { return base + ".input"; } // JSON
  std::string output() const { return base + ".o"; }    // object or bitcode
  std::string report() const { return base + ".json"; }
  std::string errors() const { return base + ".errors"; } // what went wrong, as text
};

/// Parameters as they stand in a worker's input and report.
llvm::json::Object toJson(const ScheduleParameters &parameters);
ScheduleParameters parametersFrom(const llvm::json::Object *object);

} // namespace burin
