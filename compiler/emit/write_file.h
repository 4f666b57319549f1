// Files that the compiler writes. LLVM's streams end the process when they are destroyed with an error that nobody
// took, such as a full disk; here that is an error like others.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace burin {

/// In place: for files that nobody else reads yet.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes);

/// Replaces what is at `path` in one step: who reads it sees the old file or the new one, never a part. What is no
/// regular file, such as /dev/stdout, is written in place.
llvm::Error installText(llvm::StringRef text, llvm::StringRef path);
/// The same with the bytes of a finished file.
llvm::Error installFile(llvm::StringRef finished, llvm::StringRef path);

} // namespace burin
