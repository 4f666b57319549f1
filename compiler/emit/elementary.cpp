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

Expr errorFunction(Expr x) {
  // erf(x) = x · P(x²) / Q(x²) for |x| < 3.92, where 1 − erf is 3e-8; a minimax fit of x ↦ erf(x) / x of our own, with
  // relative error 2e-8, 4e-7 with the rounding of float.
  auto polynomial = [](Expr square, std::initializer_list<float> coefficients) {
    Expr sum;
    for (float coefficient : coefficients)
      sum = sum.defined() ? sum * square + coefficient : Expr(coefficient);
    return sum;
  };
  Expr bounded = clamp(x, -3.92f, 3.92f), square = bounded * bounded;
  Expr above = polynomial(square, {2.0502775441855192e-06f, 0.0002848680305760354f, 0.0037648018915206194f,
                                   0.05274619162082672f, 0.19038695096969604f, 1.1283791065216064f});
  Expr below = polynomial(square, {3.809293775702827e-05f, 0.0011623454047366977f, 0.014967571943998337f,
                                   0.11410108953714371f, 0.5020588040351868f, 1.0f});
  Expr inner = clamp(bounded * above / below, -1.0f, 1.0f);
  return strict_float(select(abs(x) < 3.92f, inner, select(x < 0.0f, -1.0f, 1.0f)));
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
