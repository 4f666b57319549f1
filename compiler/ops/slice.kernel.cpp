// How slice is computed: it is an index, and inlined into what reads it.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void SliceOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func y("slice");
  y(feature, row) = kernel.operand(0)(feature + int(getFirst()), row);
  kernel.define(y);
}
