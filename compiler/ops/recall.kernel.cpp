// How recall is computed: nothing is copied.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void RecallOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func rows("recall");
  // The cache's rows from the count on hold anything; they are read, because tiles are read whole, and not used.
  rows(feature, row) = kernel.cached(1, feature, row);
  kernel.defineCached(rows, cast<int32_t>(kernel.count(0, kernel.cacheRows(1))));
}
