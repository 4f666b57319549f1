// One local symbol for each place in an object. A compiler labels each use of a constant, and a linker that merges
// equal constants of several kernels leaves all their labels at one place: more bytes than the constants have.
//
// Rejected: naming the section and an offset instead. Where equal constants may still be merged, that is no name for
// one.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace burin {

/// In the ELF object at `path`, each relocation that names a local label names the first one at the same place. Labels
/// that nothing names any more are for llvm-objcopy to discard. An object of another kind stays as it is.
llvm::Error nameFirstLabels(llvm::StringRef path);

} // namespace burin
