// How learned_positions is computed: a row of the table. The runtime refuses positions beyond it.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void LearnedPositionsOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func table = kernel.operand(1); // [max, features]
  Func y("learned_positions");
  // The clamp changes no valid position; it is what keeps any other from reading outside the table.
  int last = int(getTable().getType().getDimSize(0)) - 1;
  y(feature, row) = table(feature, clamp(cast<int32_t>(kernel.position(0, row)), 0, last));
  kernel.define(y);
}
