// The names of CPUs that records are kept by: LLVM's, as in `-mcpu=`, such as znver4 or sapphirerapids.
//
// Rejected: the text that a processor says of itself. Virtual machines change it, a model is sold under dozens of them,
// and what a schedule depends on, the core, is the same.
#pragma once

#include "llvm/Support/Error.h"
#include <string>

namespace burin {

/// The CPU of this machine.
std::string hostCpuName();

/// `host`, or a name that may stand in a file's name: letters, digits, '-', '_' and '.'.
llvm::Expected<std::string> cpuNamed(llvm::StringRef name);

} // namespace burin
