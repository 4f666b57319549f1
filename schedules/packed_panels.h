// Where the parts of a packed K × N weight of a contract lie in its blob: one description for the pass that lays blobs
// out, the kernels that read them and the plan that tells the runtime's packer.
//
//   float32  [N / width][K][width] floats
//   bf16     the same, of bfloat16
//   bf16-dot [N / width][K / 2][width][2] of bfloat16, K rounded up with a zero
//   int8     [N / width][K / terms][width][terms] bytes, K rounded up with zeros to whole groups; then, each for whole
//            panels of columns: a scale for each group of a column, [group][column]; the sum of each column's weights,
//            as a float; and, where the target multiplies numbers without a sign by such with one, what sums of groups
//            begin with, −128 · Σ integers, of 32 bits, [group][column]
//
// Offsets are in floats, from the weight's own; parts begin at 64 bytes. The last panel is padded with zeros.
#pragma once

#include "dialect/int8.h"
#include "dialect/precision.h"
#include "schedules/targets.h"

namespace burin {

struct PackedPanels {
  PackedPanels(const Target &target, Precision precision, int64_t K, int64_t N, int64_t width);

  static constexpr int bfloatTerms = 2; // of bf16-dot

  Precision precision;
  int64_t width;           // columns of a panel
  int64_t floats;          // of all parts
  Int8Groups groups{0, 0}; // of what has terms; one in bf16-dot
  // int8:
  int64_t columns = 0;          // N, rounded up to whole panels
  int64_t scales = 0, sums = 0; // where they lie
  int64_t corrections = 0;      // likewise; 0: there are none
  int64_t depth() const { return groups.size * groups.count; }
};

} // namespace burin
