// The object file of a model: its kernels, its plan as constant tables, its entry points; one relocatable ELF file in
// which only the entry points are visible.
#pragma once

#include "emit/model_plan.h"
#include "emit/runtime.h"
#include "llvm/Support/Error.h"

namespace burin {

/// What the object holds beside the plan: each kernel function of the module, with its symbol and its compiled object.
struct KernelObject {
  std::string function; // name in the module
  std::string symbol;   // the Halide function; `<symbol>_argv` is what the plan calls
  std::string path;
};

/// Writes `path`, replacing what stood there only when all went well. Works in `folder`, which holds the kernels.
llvm::Error writeObject(const ModelPlan &plan, llvm::ArrayRef<KernelObject> kernels, llvm::StringRef folder,
                        llvm::StringRef path);

/// Links the object and the runtime archive to a shared library.
llvm::Error writeSharedLibrary(llvm::StringRef object, llvm::StringRef runtimeArchive, llvm::StringRef path);

/// The functions that the object makes visible, without the model's prefix.
std::vector<std::string> entryPointsOf(const ModelPlan &plan);

/// C99 declarations of the entry points, documented for programs that link this runtime. (emit/header.cpp)
std::string headerOf(const ModelPlan &plan, Runtime runtime);

} // namespace burin
