// How latents is computed: whoever reads it reads the weight.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void LatentsOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func rows("latents");
  rows(feature, row) = kernel.operand(0)(feature, row);
  kernel.define(rows);
}
