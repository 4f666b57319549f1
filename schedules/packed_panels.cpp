#include "schedules/packed_panels.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

namespace burin {

static constexpr int64_t alignmentFloats = 16; // 64 bytes

static int64_t floatsFor(int64_t bytes) { return llvm::alignTo(llvm::divideCeil(bytes, 4), alignmentFloats); }

PackedPanels::PackedPanels(const Target &target, Precision precision, int64_t K, int64_t N, int64_t width)
    : precision(precision), width(width) {
  columns = llvm::alignTo(N, width);
  switch (precision) {
  case Precision::Float32:
    floats = floatsFor(columns * K * 4);
    return;
  case Precision::BFloat16:
    floats = floatsFor(columns * K * 2);
    return;
  case Precision::BFloat16Dot:
    groups = {int64_t(llvm::alignTo(K, bfloatTerms)), 1};
    floats = floatsFor(columns * depth() * 2);
    return;
  case Precision::Int8:
    groups = int8GroupsOf(K);
    scales = floatsFor(columns * depth());
    sums = scales + floatsFor(columns * groups.count * 4);
    floats = sums + floatsFor(columns * 4);
    if (target.integerDot.unsignedRows) {
      corrections = floats;
      floats += floatsFor(columns * groups.count * 4);
    }
    return;
  }
}

} // namespace burin
