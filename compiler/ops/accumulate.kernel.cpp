// How accumulate is computed: what the pool computes, one row at a time: the double sum of mean_over_time, for one.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void AccumulateOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func x = kernel.operand(0);    // [1, features]
  Func past = kernel.operand(2); // [features], double
  Func combined("combined"), y("accumulate");

  // What replaces past in the state: past + x, or the x of the first step.
  Expr now = cast<double>(x(feature, 0)), position = kernel.position(1, row);
  if (getCombine() == "add")
    combined(feature) = strict_float(past(feature) + now);
  else
    combined(feature) = select(kernel.position(1, 0) == cast<int64_t>(0), now, past(feature));
  Func kept = kernel.writeAccumulator(2, combined);

  Expr value = kept(feature);
  if (getFinish() == "divide_by_count")
    value = value / cast<double>(position + 1);
  y(feature, row) = strict_float(cast<float>(value));

  kernel.define(y);
}
