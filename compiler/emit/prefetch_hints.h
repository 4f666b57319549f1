// Requests for memory (prefetches) in a kernel's object, as they are meant.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace burin {

/// Halide's requests say of a line that it is used once (prefetchnta), which many processors of x86 then keep in L1
/// alone: a panel of weights is larger, and would be gone before it is read. Writes into the object that lines go to
/// all caches (prefetcht0, which differs in three bits of the instruction). For objects of x86.
llvm::Error prefetchIntoAllCaches(llvm::StringRef objectPath);

} // namespace burin
