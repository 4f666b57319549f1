// How gelu is computed.
#include "dialect/encoder.h"
#include "emit/elementary.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void GeluOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func y("gelu");
  Expr x = kernel.operand(0)(feature, row);
  y(feature, row) = x * (0.5f + normalIntegral(x));
  kernel.define(y);
}
