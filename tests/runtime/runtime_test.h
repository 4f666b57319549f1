// What the runtime's tests share: aligned memory, weights files made in memory, and a view of a kernel's buffer.
//
// Plans are written by hand here and their kernels are plain functions, so that these tests need neither the compiler
// nor Halide.
#pragma once

#include "burin_plan.h"
#include "kernel_buffer.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace burin_test {

// Memory at a 64-byte boundary, as long as asked and no longer, so that a sanitizer sees the first byte past it.
class AlignedMemory {
public:
  explicit AlignedMemory(size_t bytes) : bytes_(bytes) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 64, bytes == 0 ? 1 : bytes) != 0)
      std::abort();
    std::memset(memory, 0xA5, bytes);
    memory_.reset(static_cast<unsigned char *>(memory));
  }
  unsigned char *data() const { return memory_.get(); }
  size_t size() const { return bytes_; }
  std::vector<unsigned char> copy() const { return {data(), data() + bytes_}; }

private:
  struct Free {
    void operator()(unsigned char *memory) const { std::free(memory); }
  };
  std::unique_ptr<unsigned char, Free> memory_;
  size_t bytes_;
};

// A safetensors file: its header's text, and its data.
inline std::string file_with(const std::string &header, const std::string &data = "") {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header + data;
}

inline std::string float_bytes(std::initializer_list<float> values) {
  return {reinterpret_cast<const char *>(values.begin()), values.size() * sizeof(float)};
}

inline std::string float_bytes(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)};
}

struct ModelClose {
  void operator()(burin_model *model) const { burin_rt_close(model); }
};
using Model = std::unique_ptr<burin_model, ModelClose>;

struct Opened {
  burin_status status;
  std::string message;
  Model model;
};

inline Opened open_with(const burin_plan &plan, burin_open_options options) {
  char message[512] = "untouched";
  options.message = message;
  options.message_bytes = sizeof message;
  burin_model *model = nullptr;
  burin_status status = burin_rt_open(&plan, &options, &model);
  return {status, message, Model(model)};
}

inline Opened open_bytes(const burin_plan &plan, const std::string &file, bool allow_extra_tensors = false) {
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  options.allow_extra_tensors = allow_extra_tensors;
  return open_with(plan, options);
}

// A kernel's argument as a matrix: (column, row).
template <typename T> struct View {
  const burin_kernel_buffer *buffer;
  explicit View(void *argument) : buffer(static_cast<burin_kernel_buffer *>(argument)) {}
  int columns() const { return buffer->dim[0].extent; }
  int rows() const { return buffer->dim[1].extent; }
  T &operator()(int column, int row = 0) const {
    ptrdiff_t place = ptrdiff_t(column) * buffer->dim[0].stride;
    if (buffer->dimensions == 2)
      place += ptrdiff_t(row) * buffer->dim[1].stride;
    return reinterpret_cast<T *>(buffer->host)[place];
  }
};

} // namespace burin_test
