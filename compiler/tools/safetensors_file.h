// Named tensors in a file: golden cases, inputs, outputs and initial weights (github.com/huggingface/safetensors).
//
//   [u64 header bytes][JSON header, padded with blanks][data]
//
// The tool reads the element types that cases and weights use and trusts nothing of a header: a tensor's bytes must be
// what its shape and type ask for, and the tensors must tile the data. The runtime has a reader of its own, in C, for
// weights: it maps files, knows nothing of metadata and links with no C++ library, so the two are not one.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace burin {

enum class ElementType { F32, F64, U8, I32, F16, BF16, I64, I16, I8, Bool };

llvm::StringRef nameOf(ElementType type); // "F32"
size_t bytesOf(ElementType type);

struct StoredTensor {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  llvm::ArrayRef<char> bytes; // unaligned: read it through the functions below

  int64_t elements() const { return int64_t(bytes.size() / bytesOf(type)); }
  std::vector<double> toDoubles() const; // of any element type
  template <typename T> std::vector<T> copy() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char *>(values.data()));
    return values;
  }
};

/// "f32[4,8]": an element type and a shape as messages show them.
std::string describe(ElementType type, llvm::ArrayRef<int64_t> shape);

class SafetensorsFile {
public:
  static llvm::Expected<SafetensorsFile> read(llvm::StringRef path);
  static llvm::Expected<SafetensorsFile> parse(std::unique_ptr<llvm::MemoryBuffer> contents);

  const std::map<std::string, StoredTensor> &tensors() const { return tensors_; }
  const std::map<std::string, std::string> &metadata() const { return metadata_; }
  const StoredTensor *find(const std::string &name) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> contents_;
  std::map<std::string, StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Collects tensors and writes them, widest elements first, so that every tensor is aligned to its elements.
class SafetensorsWriter {
public:
  void add(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> shape, const void *data);
  void add(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values) {
    add(name, ElementType::F32, shape, values.data());
  }

  std::string bytes() const;
  /// A failure leaves what stood at `path` before as it was.
  llvm::Error write(llvm::StringRef path) const;

private:
  struct Entry {
    std::string name;
    ElementType type;
    std::vector<int64_t> shape;
    std::string data;
  };
  std::vector<Entry> entries_;
};

} // namespace burin
