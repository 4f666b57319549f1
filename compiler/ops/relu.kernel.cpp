// How relu is computed.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void ReluOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func y("relu");
  y(feature, row) = strict_float(max(kernel.operand(0)(feature, row), 0.0f));
  kernel.define(y);
}
