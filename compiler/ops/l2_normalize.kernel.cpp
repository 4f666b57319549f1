// How l2_normalize is computed: the sum of squares in the target's numeric form.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void L2NormalizeOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  int64_t features = kernel.features(0);
  Func x = kernel.keep(kernel.operand(0), features); // read twice
  const float leastSquares = 1e-30f;
  Func square("square"), scale("scale"), y("l2_normalize");

  // scale = 1 / √Σ x², and 0 for a row of zeros. Squares below the bound would be denormal in part, and depend on the
  // caller's flush-to-zero mode; it also keeps the root that is not taken from being one of 0.
  square(feature, row) = strict_float(x(feature, row) * x(feature, row));
  Expr sum = kernel.rowSum(square, features, "squares")(row);
  scale(row) = strict_float(select(sum > leastSquares, 1.0f / sqrt(max(sum, leastSquares)), 0.0f));
  y(feature, row) = strict_float(x(feature, row) * scale(row));

  kernel.rowValue(scale);
  kernel.define(y);
}
