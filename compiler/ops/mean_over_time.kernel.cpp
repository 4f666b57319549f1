// How mean_over_time is computed: a double sum in row order.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void MeanOverTimeOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func x = kernel.operand(0); // [rows of one sequence, features]
  Func sum("time_sum"), y("mean_over_time");
  Expr rows = kernel.rows(0);

  RDom time(0, rows, "time");
  sum(feature, row) = Expr(0.0);
  sum(feature, row) = strict_float(sum(feature, row) + cast<double>(x(feature, time)));

  // The mean of no rows is 0.
  y(feature, row) = strict_float(cast<float>(sum(feature, row) / cast<double>(max(rows, 1))));

  kernel.pool({sum});
  kernel.define(y);
}
