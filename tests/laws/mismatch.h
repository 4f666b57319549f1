// Comparisons of a test, and what a failing one says: the op, where it ran, where it differs, and the command that runs
// exactly that case again.
//
//   gelu on x86-64-avx2, step, f32[7,64], at [4,17]: expected 0.841345, got 0.839712 (tolerance 1e-05), seed 42
//   rerun: build/bin/laws_tests --gtest_filter=kernel_matches_reference.at_odd_sizes/gelu_on_x86_64_avx2
#pragma once

#include "dialect/host_tensor.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>

namespace burin::laws {

/// What a failure says beside its numbers.
struct Case {
  std::string op, target, entry;
  uint64_t seed = 0;       // 0: the values are written down in the test
  double tolerance = 1e-5; // of what is not equal in bits, unless the test says another
};

using Where = std::source_location;

/// The command that runs the current test again.
std::string rerunCommand();

/// Fails the test with the case, `text` and the command.
void fail(const Case &test, const std::string &text, Where where = Where::current());

// Each returns whether the comparison holds. `columns` is the length of a row.

/// |got − expected| ≤ tolerance · max(1, largest |expected|).
bool expectClose(const Case &test, llvm::ArrayRef<float> got, llvm::ArrayRef<double> expected, int64_t columns,
                 std::optional<double> tolerance = {}, Where where = Where::current());
bool expectClose(const Case &test, llvm::ArrayRef<float> got, llvm::ArrayRef<float> expected, int64_t columns,
                 std::optional<double> tolerance = {}, Where where = Where::current());
bool expectSameBits(const Case &test, llvm::ArrayRef<float> got, llvm::ArrayRef<float> expected, int64_t columns,
                    Where where = Where::current());

} // namespace burin::laws
