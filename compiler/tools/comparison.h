// One comparison of a tensor with what it should be, and the report that check prints.
//
//   mhsa_page: forward, f32[4,8], on x86-64-avx2: largest error 1.2e-07 at [3,5], tolerance 1.0e-05: ok
//   mhsa_page: step, f32[4,8], on x86-64-avx2: at [3,5]: expected 0.841345, got 0.839712 (tolerance 1.0e-05): FAIL
#pragma once

#include "dialect/precision.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace burin {

/// Relative to the largest value: of what comes from outside, computed with the weights as they are; and of what is
/// computed with the weights as they are packed.
struct Tolerances {
  double outside, own;
};
Tolerances tolerancesOf(Precision precision);

/// Of rows: 1 where two have one direction, and where both are 0.
struct Cosines {
  double least = 1, mean = 1;
};

struct Comparison {
  std::string caseName, what, target;
  std::vector<int64_t> shape;
  double largestError = 0; // NaN where a value is not a number
  std::vector<int64_t> at; // where it is; empty for a tensor without elements
  double expected = 0, got = 0;
  double tolerance = 0;           // 0: equal bits are asked for
  std::optional<Cosines> cosines; // where they are asked for
  bool ok = true;
};

/// |got − expected| ≤ tolerance · max(1, largest |expected|), for every element; a NaN on either side fails.
Comparison compare(llvm::ArrayRef<float> got, llvm::ArrayRef<double> expected, llvm::ArrayRef<int64_t> shape,
                   double tolerance);
Comparison compare(llvm::ArrayRef<float> got, llvm::ArrayRef<float> expected, llvm::ArrayRef<int64_t> shape,
                   double tolerance);
Comparison compareBits(llvm::ArrayRef<float> got, llvm::ArrayRef<float> expected, llvm::ArrayRef<int64_t> shape);

/// Of the rows of `shape`.
Cosines cosinesOf(llvm::ArrayRef<float> got, llvm::ArrayRef<double> expected, llvm::ArrayRef<int64_t> shape);

class ComparisonReport {
public:
  ComparisonReport(llvm::raw_ostream &stream, bool json) : stream_(stream), json_(json) {}

  void add(const Comparison &comparison);
  /// A case that could not be compared, for a reason that went to stderr.
  void addBrokenCase() { ++brokenCases_; }
  /// Cases of a target that this machine cannot run; `why` is a sentence.
  void addSkipped(llvm::StringRef target, int64_t cases, llvm::StringRef why);
  /// The last line: "N comparisons, N failed".
  void finish();
  bool allOk() const { return failed_ == 0 && brokenCases_ == 0; }

private:
  llvm::raw_ostream &stream_;
  bool json_;
  int64_t comparisons_ = 0, failed_ = 0, brokenCases_ = 0, skippedCases_ = 0;
};

} // namespace burin
