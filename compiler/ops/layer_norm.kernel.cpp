// How layer_norm is computed: passes over a kept row, sums in the target's numeric form. The mean is corrected once by
// what the rounding of its own sum left out, so that a row of equal values has no differences and gives exactly β. The
// variance is found beside that correction and not after it: a row waits for two sums and not for three.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void LayerNormOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  int64_t features = kernel.features(0);
  Func x = kernel.keep(kernel.operand(0), features); // read four times
  Func rough("rough_mean"), residual("residual"), left("left"), mean("mean"), square("square"), scale("scale"),
      y("layer_norm");
  float inverse = float(1.0 / double(features));

  // rough = Σ x / n, left = Σ (x − rough) / n, mean = rough + left
  rough(row) = strict_float(kernel.rowSum(x, features, "sum")(row) * inverse);
  residual(feature, row) = strict_float(x(feature, row) - rough(row));
  left(row) = strict_float(kernel.rowSum(residual, features, "residuals")(row) * inverse);
  mean(row) = strict_float(rough(row) + left(row));

  // scale = 1 / √(Σ (x − rough)² / n − left² + eps). What is left is the rounding of a sum, small beside what the
  // values differ by; where they do not differ, the difference of squares may be anything about 0 and counts nothing.
  square(feature, row) = strict_float(residual(feature, row) * residual(feature, row));
  Expr squares = kernel.rowSum(square, features, "squares")(row) * inverse;
  Expr variance = strict_float(squares - left(row) * left(row));
  scale(row) = strict_float(1.0f / sqrt(select(variance > 0.0f, variance, 0.0f) + float(getEps().convertToDouble())));
  Expr difference = x(feature, row) - mean(row);

  // y = (x − mean) · scale · γ + β
  y(feature, row) = strict_float(difference * scale(row) * kernel.operand(1)(feature) + kernel.operand(2)(feature));

  kernel.rowValue(rough);
  kernel.rowValue(mean);
  kernel.rowValue(scale);
  kernel.define(y);
}
