// What people feed the compiler, read as the tool reads it: the fuzzers' and invalid_inputs' one way in.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace burin_fuzz {

struct Verdict {
  bool isTaken = false;
  /// What went wrong, besides a crash: an error without a word or a place, or one that is said of what is taken.
  std::string wrong;
};

/// Textual IR, with a 0 behind its end, as MLIR wants it: parsed, verified, and through the passes, as far as no kernel
/// is compiled.
Verdict readGraph(llvm::StringRef text);

/// A model's directory: config.json, and behind lines of "---" modules.json and the pooling module's config.json.
Verdict readConfig(llvm::StringRef text);

/// A golden case: its file, its graph, and whether they fit.
Verdict readCase(llvm::StringRef bytes);

/// A tuning database. What is left of it after reading is written, and read again without a warning.
Verdict readDatabase(llvm::StringRef text);

} // namespace burin_fuzz
