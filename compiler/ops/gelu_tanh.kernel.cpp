// How gelu_tanh is computed: (1 + tanh u) / 2 = 1 / (1 + e^−2u), which loses no digits where tanh is near −1.
#include "dialect/encoder.h"
#include "emit/elementary.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void GeluTanhOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func y("gelu_tanh");
  Expr x = kernel.operand(0)(feature, row);
  // Beyond ±10 the result is 0 or x to the last bit, and x³ must not overflow.
  Expr bounded = strict_float(clamp(x, -10.0f, 10.0f)), square = strict_float(bounded * bounded);
  Expr twice = strict_float(bounded * 1.5957691f) * (1.0f + 0.044715f * square); // 2u, √(2/π) · 2 = 1.5957691
  y(feature, row) = select(strict_float(x < -10.0f), 0.0f, x / (1.0f + exponential(0.0f - twice)));
  kernel.define(y);
}
