#include "dialect/int8.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace burin {

// Measured on 200 texts of MiniLM, the least cosine with float64: 0.9977 with groups of 128, 0.9982 with 64. 64 cost 4 %
// of the time of 8 tokens more.
static constexpr int64_t mostInGroup = 64;
static constexpr int64_t mostTerms = 4; // that an instruction of any target adds up

Int8Groups int8GroupsOf(int64_t inputs) {
  int64_t count = llvm::divideCeil(inputs, mostInGroup);
  return {int64_t(llvm::alignTo(llvm::divideCeil(inputs, count), mostTerms)), count};
}

namespace {
/// volatile: rounded to float32, whatever the host computes in.
float rounded(float value) {
  volatile float result = value;
  return result;
}

/// Numbers that share a scale, of which `span` becomes `steps` integers.
struct Scale {
  float scale, inverse;
  Scale(float span, float steps) {
    bool isZero = span < 0x1p-100f;
    inverse = isZero ? 0 : rounded(steps / span);
    scale = isZero ? 0 : rounded(span * rounded(1 / steps));
  }
  int64_t integerOf(float value) const {
    float product = rounded(value * inverse);
    return std::isfinite(product) ? int64_t(std::nearbyint(product)) : 0; // what is not finite makes the scale so
  }
};

/// The larger; a NaN is above all.
float larger(float a, float b) { return std::isnan(a) || a > b ? a : b; }

struct Columns {
  std::vector<float> scales;     // [group][N]
  std::vector<int64_t> integers; // [K][N]
};

Columns columnsOf(const HostTensor &weight, int64_t inputs, int64_t outputs, bool outIn) {
  Int8Groups groups = int8GroupsOf(inputs);
  Columns columns;
  columns.integers.resize(inputs * outputs);
  for (int64_t first = 0; first < inputs; first += groups.size)
    for (int64_t n = 0; n < outputs; ++n) {
      auto at = [&](int64_t k) { return float(outIn ? weight(n, k) : weight(k, n)); };
      int64_t end = std::min(first + groups.size, inputs);
      float largest = 0;
      for (int64_t k = first; k < end; ++k)
        largest = larger(std::abs(at(k)), largest);
      Scale scale(largest, 127);
      columns.scales.push_back(scale.scale);
      for (int64_t k = first; k < end; ++k)
        columns.integers[k * outputs + n] = scale.integerOf(at(k));
    }
  return columns;
}

struct Row {
  int64_t outlier = 0;
  float outlierValue = 0, scale = 0;
  std::vector<int64_t> integers; // from 0, scale · integer being the value
};

Row rowOf(const HostTensor &x, int64_t t) {
  Row row;
  std::vector<float> rest(x.features());
  float largest = -1;
  for (int64_t k = 0; k < x.features(); ++k) {
    rest[k] = float(x(t, k));
    float magnitude = std::abs(rest[k]);
    if (magnitude > largest || (std::isnan(magnitude) && !std::isnan(largest))) {
      largest = magnitude;
      row.outlier = k;
    }
  }
  std::swap(row.outlierValue, rest[row.outlier]);
  float highest = 0, lowest = 0;
  for (float value : rest) {
    highest = larger(value, highest);
    lowest = larger(-value, lowest);
  }
  Scale scale(rounded(highest + lowest), 254);
  row.scale = scale.scale;
  for (float value : rest)
    row.integers.push_back(scale.integerOf(value));
  return row;
}
} // namespace

HostTensor multiplyInInt8(const HostTensor &x, const HostTensor &weight, bool outIn) {
  int64_t inputs = x.features(), outputs = weight.size() / inputs;
  int64_t size = int8GroupsOf(inputs).size;
  Columns columns = columnsOf(weight, inputs, outputs, outIn);
  HostTensor y({x.rows(), outputs});
  for (int64_t t = 0; t < x.rows(); ++t) {
    Row row = rowOf(x, t);
    for (int64_t n = 0; n < outputs; ++n) {
      double sum = 0;
      for (int64_t first = 0; first < inputs; first += size) {
        int64_t group = 0;
        for (int64_t k = first; k < std::min(first + size, inputs); ++k)
          group += row.integers[k] * columns.integers[k * outputs + n];
        sum += double(group) * columns.scales[first / size * outputs + n];
      }
      double exact = double(columns.integers[row.outlier * outputs + n]) *
                     columns.scales[row.outlier / size * outputs + n] * row.outlierValue;
      y(t, n) = sum * row.scale + exact;
    }
  }
  return y;
}

} // namespace burin
