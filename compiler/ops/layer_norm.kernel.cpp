// How layer_norm is computed: passes over a kept row, sums in the target's numeric form. The mean is corrected once by
// what the rounding of its own sum left out, so that a row of equal values has no differences and gives exactly β.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void LayerNormOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  int64_t features = kernel.features(0);
  Func x = kernel.keep(kernel.operand(0), features); // read four times
  Func rough("rough_mean"), residual("residual"), mean("mean"), square("square"), scale("scale"), y("layer_norm");
  float inverse = float(1.0 / double(features));

  // rough = Σ x / n, mean = rough + Σ (x − rough) / n
  rough(row) = strict_float(kernel.rowSum(x, features, "sum")(row) * inverse);
  residual(feature, row) = strict_float(x(feature, row) - rough(row));
  mean(row) = strict_float(rough(row) + kernel.rowSum(residual, features, "residuals")(row) * inverse);

  // scale = 1 / √(Σ (x − mean)² / n + eps)
  Expr difference = x(feature, row) - mean(row);
  square(feature, row) = strict_float(difference * difference);
  Expr variance = kernel.rowSum(square, features, "squares")(row) * inverse;
  scale(row) = strict_float(1.0f / sqrt(variance + float(getEps().convertToDouble())));

  // y = (x − mean) · scale · γ + β
  y(feature, row) = strict_float(difference * scale(row) * kernel.operand(1)(feature) + kernel.operand(2)(feature));

  kernel.rowValue(rough);
  kernel.rowValue(mean);
  kernel.rowValue(scale);
  kernel.define(y);
}
