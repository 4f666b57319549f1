// Text as it may stand in a page.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace burin {

/// For content and for attributes in double quotes; bytes that are no text become U+FFFD.
std::string escaped(llvm::StringRef text);

} // namespace burin
