// How accumulate is computed: what the pool computes, going on from what is kept: the double sum of mean_over_time, for
// one.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void AccumulateOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func x = kernel.operand(0);    // [rows, features]
  Func past = kernel.operand(2); // [features], double
  Func y("accumulate");
  Expr count = kernel.count(1), rows = kernel.rows(0), value;

  if (getCombine() == "first") {
    Func kept("kept"); // the x of the stream's first row
    kept(feature) = select(count == cast<int64_t>(0), cast<double>(x(feature, 0)), past(feature));
    value = kernel.writeAccumulator(2, kept)(feature);
  } else {
    // combined(row) = past + x(0) + … + x(row), in order.
    Func combined("combined");
    combined(feature, row) = strict_float(past(feature) + cast<double>(x(feature, 0)));
    if (!kernel.hasOneRow(0)) {
      RDom later(1, max(rows - 1, 0), "later");
      combined(feature, later) = strict_float(combined(feature, later - 1) + cast<double>(x(feature, later)));
    }
    value = kernel.writeAccumulator(2, combined, rows)(feature, row);
  }
  if (getFinish() == "divide_by_count")
    value = value / cast<double>(count + row + 1);
  y(feature, row) = strict_float(cast<float>(value));

  kernel.define(y);
}
