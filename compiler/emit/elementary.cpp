// The polynomials. What depends on rounding is strict: no contraction, no reassociation, so nothing depends on the
// schedule.
#include "emit/elementary.h"
#include <cmath>

using namespace Halide;

namespace burin {

/// e^x for −87 ≤ x ≤ 88.
static Expr exponentialWithin(Expr x) {
  // e^x = 2^n · 2^f with n = round(x / ln 2), |f| ≤ 1/2; 2^f by the minimax polynomial of Cephes (Moshier, exp2f.c).
  // Adding 1.5 · 2^23 rounds to a whole number and leaves it in the low bits, which are then added to the exponent.
  // Relative error 2e-7 + |x| 9e-8, from the rounding of x / ln 2: what a softmax makes of it is below 5e-8 of the
  // largest weight.
  const float rounder = 12582912.0f;
  Expr scaled = strict_float(x * 1.44269504088896341f), rounded = strict_float(scaled + rounder);
  Expr f = strict_float(scaled - strict_float(rounded - rounder));
  // Not strict: each step becomes a fused multiply-add.
  Expr p = 1.535336188319500e-4f;
  for (float coefficient : {1.339887440266574e-3f, 9.618437357674640e-3f, 5.550332471162809e-2f, 2.402264791363012e-1f,
                            6.931472028550421e-1f, 1.0f})
    p = p * f + coefficient;
  return reinterpret<float>(reinterpret<int32_t>(p) + (reinterpret<int32_t>(rounded) << 23));
}

Expr exponential(Expr x) { return exponentialWithin(clamp(x, -87.0f, 88.0f)); }

Expr exponentialOfNegative(Expr x) {
  // What is not a number is not below −87, and stays.
  return select(strict_float(x < -87.0f), 0.0f, exponentialWithin(x));
}

Expr normalIntegral(Expr x) {
  // x · P(x²) / Q(x²) for |x| < 5.6, where 1/2 is 1e-8 away; a minimax fit of our own of what gelu makes of it, whose
  // error is 5e-8. It is above 1/2 at 5.6 by more than floats round, so that the bound gives 1/2 exactly.
  // Not strict, which would keep products and sums apart: each step becomes a fused multiply-add.
  Expr bounded = strict_float(clamp(x, -5.6f, 5.6f)), square = strict_float(bounded * bounded);
  auto polynomial = [&](std::initializer_list<float> coefficients) {
    Expr sum;
    for (float coefficient : coefficients)
      sum = sum.defined() ? sum * square + coefficient : Expr(coefficient);
    return sum;
  };
  Expr above = polynomial({2.3383476e-08f, 6.8229056e-06f, 0.00019093089f, 0.0048167817f, 0.035690594f, 0.398942f});
  Expr below = polynomial({1.2503441e-06f, 8.2387895e-05f, 0.0020086088f, 0.029767463f, 0.25612584f, 1.0f});
  return clamp(bounded * above / below, -0.5f, 0.5f);
}

Expr sineOfTurn(Turn turn, Expr cosine) {
  // The quadrant is the two high bits after rounding to the nearest quarter turn; what is left lies in ±1/8 turn and
  // loses nothing: the reduction is exact at any angle (Payne–Hanek for free, because the angle never was in radians).
  // A cosine is the sine a quarter turn later; added to the quadrant, as a 1 to eight numbers of 32 bits, it ends LLVM
  // 21 with an assertion (X86MCCodeEmitter, setR2).
  Expr eighth = cast<uint64_t>(1) << cast<uint64_t>(61);
  Expr phase = turn.phase + (cast<uint64_t>(cosine) << cast<uint64_t>(62));
  Expr quadrant = cast<int32_t>((phase + eighth) >> cast<uint64_t>(62));
  Expr rest = cast<int64_t>(phase - (cast<uint64_t>(quadrant) << cast<uint64_t>(62)));
  Expr x = cast<double>(rest) * Expr(2 * M_PI / 18446744073709551616.0); // |x| ≤ π/4
  Expr square = x * x;
  // Taylor to x^13 and x^14: the first term left out is below 3e-14 of the result, far below float's last bit.
  auto series = [&](std::initializer_list<double> coefficients) {
    Expr sum;
    for (double coefficient : coefficients)
      sum = sum.defined() ? sum * square + Expr(coefficient) : Expr(coefficient);
    return sum;
  };
  Expr sine = x * series({1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0, 1.0});
  Expr cosineSeries =
      series({-1 / 87178291200.0, 1 / 479001600.0, -1 / 3628800.0, 1 / 40320.0, -1 / 720.0, 1 / 24.0, -1 / 2.0, 1.0});
  Expr value = select((quadrant & 1) == 1, cosineSeries, sine);
  return strict_float(select(quadrant >= 2, Expr(0.0) - value, value));
}

} // namespace burin
