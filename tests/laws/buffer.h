// Memory that a test hands to a call. It starts out as bytes 0xFF, which are NaN as floats, so that a value that is
// read before it is written, or never written, shows in the result.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace burin::laws {

enum class Placement {
  anywhere,    // on the heap
  beforeGuard, // the last byte stands before a page that may not be touched, as closely as the alignment lets it
  afterGuard   // the first byte stands after one
};

class Buffer {
public:
  Buffer(std::string name, size_t bytes, size_t alignment, Placement placement);
  Buffer(Buffer &&other) noexcept;
  ~Buffer();

  template <typename T = void> T *as() const { return static_cast<T *>(static_cast<void *>(data_)); }
  size_t bytes() const { return bytes_; }
  const std::string &name() const { return name_; }
  void fill(unsigned char byte);

  /// What `address` is to this buffer, such as "4 bytes past the end of output y"; empty where it is not near.
  std::string describe(const void *address) const;
  /// True where the few bytes that alignment leaves between the buffer and the guard page are untouched.
  bool gapIsUntouched() const;

private:
  std::string name_;
  size_t bytes_;
  unsigned char *data_ = nullptr;
  unsigned char *mapping_ = nullptr; // guard pages included; null on the heap
  size_t mapped_ = 0;
};

/// Runs `call`; where it touches memory that it may not, returns what that memory is to `buffers`. Empty: all went
/// well.
std::string faultIn(llvm::function_ref<void()> call, const std::vector<const Buffer *> &buffers);

} // namespace burin::laws
