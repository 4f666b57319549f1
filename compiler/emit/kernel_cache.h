// Compiled kernels on disk, by content: the serialised kernel, its target, and the compiler itself (the bytes of the
// running executable and Halide's version) make the key. An entry is never changed and may be deleted at any time.
//
// Rejected: keys made of names and versions. A key that forgets one input gives a wrong kernel; a hash of everything
// costs a few milliseconds.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace burin {

class KernelCache {
public:
  /// An empty folder means the default: $BURIN_KERNEL_CACHE, $XDG_CACHE_HOME/burin or ~/.cache/burin.
  explicit KernelCache(llvm::StringRef folder);

  /// The key of a worker's whole input.
  static std::string key(llvm::StringRef input, llvm::StringRef compilerVersion);

  struct Entry {
    std::string object; // bytes of the object file
    std::string report; // the worker's report, JSON
  };
  std::optional<Entry> find(llvm::StringRef key) const;
  /// Never fails: a cache that cannot be written is an empty one.
  void insert(llvm::StringRef key, const Entry &entry) const;

private:
  std::string folder_;
};

} // namespace burin
