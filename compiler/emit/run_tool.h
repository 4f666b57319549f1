// Running the linker and the like, and putting finished files in place.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace burin {

/// Runs a program with arguments, the first being the program; a failure carries what it printed.
llvm::Error runTool(const std::vector<std::string> &command);

/// Copies a finished file to `path` in one step: who reads `path` sees the old file or the new one, never a part.
llvm::Error installFile(llvm::StringRef finished, llvm::StringRef path);
llvm::Error installText(llvm::StringRef text, llvm::StringRef path);

} // namespace burin
