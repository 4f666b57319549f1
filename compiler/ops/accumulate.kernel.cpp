// How accumulate is computed: the same double sum as mean_over_time, one row at a time.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void AccumulateOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func x = kernel.operand(0);    // [1, features]
  Func past = kernel.operand(2); // [features], double
  Func sum("running_sum"), y("accumulate");

  // combine: add. sum = past + x; it replaces past in the state.
  sum(feature) = strict_float(past(feature) + cast<double>(x(feature, 0)));
  Func kept = kernel.writeAccumulator(2, sum);

  // finish: divide_by_count.
  Expr count = cast<double>(kernel.position(1, row) + 1);
  y(feature, row) = strict_float(cast<float>(kept(feature) / count));

  kernel.define(y);
}
