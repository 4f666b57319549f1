// How first_step is computed: a loop over the rows that ends after the first, so that nothing of no rows is read.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void FirstStepOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func x = kernel.operand(0); // [rows of one sequence, features]
  Func first("first"), y("first_step");
  RDom time(0, min(kernel.rows(0), 1), "time");
  first(feature, row) = 0.0f;
  first(feature, row) = x(feature, time);
  y(feature, row) = first(feature, row);

  kernel.pool({first});
  kernel.define(y);
}
