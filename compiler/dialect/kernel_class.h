// The families of schedules. A target's schedule file serves each of them; every kernel belongs to one.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace burin {

enum class KernelClass {
  Pointwise, // elementwise over rows
  RowReduce, // norms: a reduction over the features of a row
  Contract,  // rows times packed weights, with prologue and epilogue
  Attend,    // softmax attention; once per sequence
  Pool,      // a reduction over time; once per sequence
  Whole      // a small graph as one kernel, its groups one after another
};

llvm::StringRef kernelClassName(KernelClass kernelClass);
std::optional<KernelClass> kernelClassNamed(llvm::StringRef name);

/// Attend and pool look along time, so they run on one sequence at a time.
inline bool runsPerSequence(KernelClass kernelClass) {
  return kernelClass == KernelClass::Attend || kernelClass == KernelClass::Pool;
}

} // namespace burin
