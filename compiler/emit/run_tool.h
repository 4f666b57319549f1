// Running the linker and the like.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace burin {

/// Runs a program with arguments, the first being the program; a failure carries what it printed.
llvm::Error runTool(const std::vector<std::string> &command);

} // namespace burin
