// The object file of a model: its kernels, its plan as constant tables, its entry points; one relocatable file in which
// only the entry points are visible.
#pragma once

#include "emit/model_plan.h"
#include "emit/runtime.h"
#include "llvm/Support/Error.h"

namespace burin {

/// A kernel function of the module, with its symbol and its compiled object, or its bitcode (emit/link_modules.h).
struct KernelObject {
  std::string function; // name in the module
  std::string symbol;   // the Halide function; `<symbol>_argv` is what the plan calls
  std::string path;
};

/// A kernel that is compiled with several schedules: `<symbol>_argv` calls the first variant that takes as many rows as
/// there are. All of them give the same bits.
struct KernelDispatch {
  struct Variant {
    int64_t mostRows;
    std::string symbol;
  };
  std::string function, symbol;
  int rowArgument; // the buffer whose rows are counted
  std::vector<Variant> variants;
};

/// What the object holds for one target.
struct TargetCode {
  const ModelPlan *plan;
  std::vector<KernelObject> kernels;
  std::vector<KernelDispatch> dispatches = {};
};

/// Writes `path`, replacing what stood there only when all went well. Works in `folder`, which holds the kernels. Of
/// several targets, the preferred stands first and the one that needs least of a processor last.
llvm::Error writeObject(llvm::ArrayRef<TargetCode> targets, llvm::StringRef folder, llvm::StringRef path);

/// Links the object and the runtime's archives to a shared library.
llvm::Error writeSharedLibrary(llvm::StringRef object, llvm::ArrayRef<std::string> archives, llvm::StringRef path);

/// Halide's hooks that kernels call, each with the function of the runtime that takes its place, so that a program may
/// hold a Halide library of its own.
llvm::ArrayRef<std::pair<std::string, std::string>> runtimeHooks();

/// The functions that the object makes visible, without the model's prefix.
std::vector<std::string> entryPointsOf(const ModelPlan &plan);

/// The first plan with the numbers that hold for each of them: memory for the one that needs most. What an object says
/// before it has chosen. (emit/header.cpp)
ModelPlan boundOf(llvm::ArrayRef<const ModelPlan *> plans);

/// C99 declarations of the entry points, documented for programs that link this runtime. (emit/header.cpp)
std::string headerOf(llvm::ArrayRef<const ModelPlan *> plans, Runtime runtime);

} // namespace burin
