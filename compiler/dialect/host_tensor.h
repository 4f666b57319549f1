// A slow, plain tensor in double precision: what the reference evaluation of every op reads and writes.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cassert>
#include <cstdint>
#include <vector>

namespace burin {

class HostTensor {
public:
  HostTensor() = default;
  explicit HostTensor(llvm::ArrayRef<int64_t> shape, double value = 0) : shape_(shape.begin(), shape.end()) {
    int64_t size = 1;
    for (int64_t extent : shape)
      size *= extent;
    values_.assign(size, value);
  }

  HostTensor(std::initializer_list<int64_t> shape) : HostTensor(llvm::ArrayRef<int64_t>(shape.begin(), shape.end())) {}

  llvm::ArrayRef<int64_t> shape() const { return shape_; }
  int64_t size() const { return int64_t(values_.size()); }
  int64_t rows() const { return shape_.empty() ? 1 : shape_[0]; }
  int64_t features() const { return shape_.empty() ? 1 : shape_.back(); }

  std::vector<double> &values() { return values_; }
  const std::vector<double> &values() const { return values_; }

  /// Element of a vector, or [row, feature] of a matrix.
  double &operator()(int64_t i) { return values_[i]; }
  double operator()(int64_t i) const { return values_[i]; }
  double &operator()(int64_t row, int64_t feature) { return values_[index(row, feature)]; }
  double operator()(int64_t row, int64_t feature) const { return values_[index(row, feature)]; }

  /// The tensor with `f` applied to every element.
  template <typename F> HostTensor map(F f) const {
    HostTensor result = *this;
    for (double &value : result.values_)
      value = f(value);
    return result;
  }

private:
  int64_t index(int64_t row, int64_t feature) const {
    assert(shape_.size() == 2 && row >= 0 && row < shape_[0] && feature >= 0 && feature < shape_[1]);
    return row * shape_[1] + feature;
  }

  llvm::SmallVector<int64_t, 2> shape_;
  std::vector<double> values_;
};

} // namespace burin
