// How append is computed: nothing is copied. A row before the position is read from the cache, the last is the new one.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void AppendOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func fresh = kernel.operand(0); // [1, features]
  Expr position = cast<int32_t>(kernel.position(1, 0));
  Func write("appended"), rows("append");

  // The cache's rows from the position on hold anything; they are read, because tiles are read whole, and not used.
  rows(feature, row) = select(row < position, kernel.cached(2, feature, row), fresh(feature, 0));
  write(feature) = fresh(feature, 0);

  kernel.writeCache(2, write);
  kernel.define(rows, position + 1);
}
