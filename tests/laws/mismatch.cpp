#include "mismatch.h"
#include "gtest/gtest.h"
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>

namespace burin::laws {

std::string rerunCommand() {
  const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
  std::string filter = std::string(test->test_suite_name()) + "." + test->name();
  return std::string("build/bin/") + program_invocation_short_name + " --gtest_filter=" + filter;
}

void fail(const Case &test, const std::string &text, Where where) {
  std::string seed = test.seed ? ", seed " + std::to_string(test.seed) : "";
  ADD_FAILURE_AT(where.file_name(), int(where.line())) << test.op << " on " << test.target << ", " << test.entry << ", "
                                                       << text << seed << "\nrerun: " << rerunCommand();
}

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// `tolerance` is absolute here; negative where equal bits are asked for.
static bool report(const Case &test, size_t at, size_t count, double got, double expected, int64_t columns,
                   double tolerance, Where where) {
  int64_t element = int64_t(at), rows = int64_t(count) / columns;
  std::string limit = tolerance < 0 ? "equal bits" : "tolerance " + number(tolerance);
  fail(test,
       "f32[" + std::to_string(rows) + "," + std::to_string(columns) + "], at [" + std::to_string(element / columns) +
           "," + std::to_string(element % columns) + "]: expected " + number(expected) + ", got " + number(got) + " (" +
           limit + ")",
       where);
  return false;
}

template <typename T>
static bool isClose(const Case &test, llvm::ArrayRef<float> got, llvm::ArrayRef<T> expected, int64_t columns,
                    double tolerance, Where where) {
  if (got.size() != expected.size()) {
    fail(test, "expected " + std::to_string(expected.size()) + " values, got " + std::to_string(got.size()), where);
    return false;
  }
  double largest = 1;
  for (T value : expected)
    largest = std::max(largest, std::abs(double(value)));
  size_t worst = 0;
  double error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double difference = std::abs(double(got[i]) - double(expected[i]));
    if (!(difference <= error)) { // NaN is worse than all
      worst = i;
      error = difference;
      if (std::isnan(difference))
        break;
    }
  }
  if (error <= tolerance * largest)
    return true;
  return report(test, worst, got.size(), got[worst], double(expected[worst]), columns, tolerance * largest, where);
}

bool expectClose(const Case &test, llvm::ArrayRef<float> got, llvm::ArrayRef<double> expected, int64_t columns,
                 std::optional<double> tolerance, Where where) {
  return isClose(test, got, expected, columns, tolerance.value_or(test.tolerance), where);
}

bool expectClose(const Case &test, llvm::ArrayRef<float> got, llvm::ArrayRef<float> expected, int64_t columns,
                 std::optional<double> tolerance, Where where) {
  return isClose(test, got, expected, columns, tolerance.value_or(test.tolerance), where);
}

bool expectSameBits(const Case &test, llvm::ArrayRef<float> got, llvm::ArrayRef<float> expected, int64_t columns,
                    Where where) {
  if (got.size() != expected.size()) {
    fail(test, "expected " + std::to_string(expected.size()) + " values, got " + std::to_string(got.size()), where);
    return false;
  }
  for (size_t i = 0; i < got.size(); ++i)
    if (std::bit_cast<uint32_t>(got[i]) != std::bit_cast<uint32_t>(expected[i]))
      return report(test, i, got.size(), got[i], expected[i], columns, -1, where);
  return true;
}

} // namespace burin::laws
