// How add_row is computed.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void AddRowOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func y("add_row");
  y(feature, row) = strict_float(kernel.operand(0)(feature, row) + kernel.operand(1)(feature, int(getRow())));
  kernel.define(y);
}
