// Which runtime a program links with its objects: the whole one, or the one that needs no operating system. An object
// is the same for both; what its header says is not.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace burin {

enum class Runtime { hosted, bare };

/// The archive's file name: the same for every target.
llvm::StringRef archiveNameOf(Runtime runtime);

/// A function that a bare program provides (runtime/bare_symbols.def).
struct BareSymbol {
  llvm::StringLiteral name, reason;
};
llvm::ArrayRef<BareSymbol> bareSymbols();

/// An error that names what the object needs beside the runtime and those functions.
llvm::Error checkBareObject(llvm::StringRef path);

} // namespace burin
