// How gated_add is computed.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void GatedAddOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func x = kernel.operand(0), signal = kernel.operand(1), update = kernel.operand(2);
  Func y("gated_add");
  // Strict, so that the comparison stays false for what is not a number.
  y(feature, row) = select(strict_float(signal(0, row) > getOpenAbove()),
                           strict_float(x(feature, row) + update(feature, row)), x(feature, row));
  kernel.define(y);
}
