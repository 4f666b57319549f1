#include "tools/comparison.h"
#include "nlohmann/json.hpp"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>
#include <cassert>
#include <cmath>

namespace burin {

Tolerances tolerancesOf(Precision precision) {
  constexpr double float32 = 1e-5; // from the format of golden cases
  switch (precision) {
  case Precision::Float32:
    return {float32, float32};
  case Precision::BFloat16: // a weight is off by up to 2^-9 of itself, a sum of many by less of its largest term
    return {1e-2, float32};
  case Precision::BFloat16Dot: // and a row's value; between two, it may be rounded to either
    return {2e-2, 5e-3};
  case Precision::Int8:
    // Outside: weights and rows are off by up to 1/254 of their largest. Own: a value that lies between two integers
    // may be rounded to either where float32 and float64 differ in it, which moves a sum by 1/127 of its largest row
    // value times a weight.
    return {1e-1, 2e-2};
  }
  llvm_unreachable("a precision");
}

static std::vector<int64_t> indexOf(int64_t element, llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> index(shape.size());
  for (int64_t axis = int64_t(shape.size()) - 1; axis >= 0; --axis) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

Comparison compare(llvm::ArrayRef<float> got, llvm::ArrayRef<double> expected, llvm::ArrayRef<int64_t> shape,
                   double tolerance) {
  assert(got.size() == expected.size() && "tensors of one shape");
  Comparison result;
  result.shape = shape.vec();
  double largest = 0;
  for (double value : expected)
    largest = std::max(largest, std::abs(value));
  result.tolerance = tolerance * std::max(1.0, largest);
  for (size_t i = 0; i < got.size(); ++i) {
    double error = std::abs(double(got[i]) - expected[i]);
    bool isWorse = i == 0 || std::isnan(error) || error > result.largestError;
    if (!isWorse || std::isnan(result.largestError))
      continue;
    result.largestError = error;
    result.at = indexOf(int64_t(i), shape);
    result.expected = expected[i];
    result.got = got[i];
  }
  result.ok = result.largestError <= result.tolerance; // false for NaN
  return result;
}

Comparison compare(llvm::ArrayRef<float> got, llvm::ArrayRef<float> expected, llvm::ArrayRef<int64_t> shape,
                   double tolerance) {
  return compare(got, std::vector<double>(expected.begin(), expected.end()), shape, tolerance);
}

Cosines cosinesOf(llvm::ArrayRef<float> got, llvm::ArrayRef<double> expected, llvm::ArrayRef<int64_t> shape) {
  size_t columns = shape.empty() ? 1 : size_t(shape.back());
  Cosines result;
  double sum = 0;
  for (size_t first = 0; first < got.size(); first += columns) {
    double product = 0, gots = 0, expecteds = 0;
    for (size_t i = first; i < first + columns; ++i) {
      product += got[i] * expected[i];
      gots += double(got[i]) * got[i];
      expecteds += expected[i] * expected[i];
    }
    double cosine = gots == 0 && expecteds == 0 ? 1 : product / std::sqrt(gots * expecteds);
    sum += cosine;
    result.least = std::isnan(cosine) || cosine < result.least ? cosine : result.least;
  }
  if (!got.empty())
    result.mean = sum / double(got.size() / columns);
  return result;
}

Comparison compareBits(llvm::ArrayRef<float> got, llvm::ArrayRef<float> expected, llvm::ArrayRef<int64_t> shape) {
  Comparison result = compare(got, expected, shape, 0);
  result.tolerance = 0;
  result.ok = true; // NaNs of equal bits are equal
  for (size_t i = 0; i < got.size() && result.ok; ++i)
    if (std::bit_cast<uint32_t>(got[i]) != std::bit_cast<uint32_t>(expected[i])) {
      result.ok = false;
      result.at = indexOf(int64_t(i), shape);
      result.expected = expected[i];
      result.got = got[i];
      result.largestError = std::abs(result.got - result.expected);
    }
  return result;
}

static std::string bracketed(llvm::ArrayRef<int64_t> numbers) {
  std::string text = "[";
  for (auto [position, number] : llvm::enumerate(numbers))
    text += (position ? "," : "") + std::to_string(number);
  return text + "]";
}

static std::string print(const Comparison &c) {
  std::string tolerance = c.tolerance == 0 ? "equal bits" : llvm::formatv("tolerance {0:e1}", c.tolerance).str();
  std::string text = llvm::formatv("{0}: {1}, f32{2}, on {3}: ", c.caseName, c.what, bracketed(c.shape), c.target);
  if (!c.ok)
    text += llvm::formatv("at {0}: expected {1}, got {2}, error {3:e1} ({4}): FAIL", bracketed(c.at),
                          llvm::format("%.9g", c.expected), llvm::format("%.9g", c.got), c.largestError, tolerance);
  else
    text += llvm::formatv("largest error {0:e1} at {1}, {2}: ok", c.largestError, bracketed(c.at), tolerance);
  if (c.cosines)
    text += llvm::formatv(", cosine {0} at worst, {1} on average", llvm::format("%.6f", c.cosines->least),
                          llvm::format("%.6f", c.cosines->mean));
  return text;
}

void ComparisonReport::add(const Comparison &c) {
  ++comparisons_;
  failed_ += !c.ok;
  if (!json_) {
    stream_ << print(c) << "\n";
    stream_.flush(); // whoever waits sees it now
    return;
  }
  nlohmann::ordered_json line = {{"case", c.caseName},
                                 {"what", c.what},
                                 {"shape", c.shape},
                                 {"target", c.target},
                                 {"largest_error", c.largestError},
                                 {"at", c.at},
                                 {"expected", c.expected},
                                 {"got", c.got},
                                 {"tolerance", c.tolerance},
                                 {"ok", c.ok}};
  if (c.cosines) {
    line["least_cosine"] = c.cosines->least;
    line["mean_cosine"] = c.cosines->mean;
  }
  stream_ << line.dump() << "\n";
}

void ComparisonReport::addSkipped(llvm::StringRef target, int64_t cases, llvm::StringRef why) {
  skippedCases_ += cases;
  if (json_) {
    nlohmann::ordered_json line = {{"skipped_target", target.str()}, {"cases", cases}, {"why", why.str()}};
    stream_ << line.dump() << "\n";
    return;
  }
  stream_ << "SKIPPED: " << cases << (cases == 1 ? " case" : " cases") << " on " << target << ": " << why << "\n";
}

void ComparisonReport::finish() {
  if (json_) {
    nlohmann::ordered_json line = {{"comparisons", comparisons_},
                                   {"failed", failed_},
                                   {"cases_not_compared", brokenCases_},
                                   {"cases_skipped", skippedCases_}};
    stream_ << line.dump() << "\n";
    return;
  }
  if (brokenCases_)
    stream_ << brokenCases_ << (brokenCases_ == 1 ? " case" : " cases") << " not compared, see the errors\n";
  stream_ << comparisons_ << " comparisons, " << failed_ << " failed";
  if (skippedCases_)
    stream_ << ", " << skippedCases_ << (skippedCases_ == 1 ? " case" : " cases") << " skipped";
  stream_ << "\n";
}

} // namespace burin
