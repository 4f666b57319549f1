// How append is computed: nothing is copied. A row before the new ones is read from the cache.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void AppendOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func fresh = kernel.operand(0), rows("append");
  Expr past = kernel.pastRows(2, 1), count = kernel.rows(0); // before the new rows, and new

  // The cache's rows from there on hold anything; they are read, because tiles are read whole, and not used.
  Expr newRow = kernel.hasOneRow(0) ? Expr(0) : clamp(row - past, 0, count - 1);
  rows(feature, row) = select(row < past, kernel.cachedPast(2, 1, feature, row), fresh(feature, newRow));
  kernel.writeCache(2, fresh, count, 1);

  // One new row is the same for every lane; more of them are better transposed with the rest.
  if (kernel.hasOneRow(0))
    kernel.defineCached(rows, past + count);
  else
    kernel.define(rows, past + count);
}
