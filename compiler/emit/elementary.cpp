// The polynomials. Everything is strict: no contraction, no reassociation, so nothing depends on the schedule.
#include "emit/elementary.h"
#include <cmath>

using namespace Halide;

namespace burin {

Expr exponential(Expr x) {
  // e^x = 2^n · e^r with n = round(x / ln 2), |r| ≤ ln 2 / 2; ln 2 in two parts so that n · ln 2 loses nothing; e^r by
  // the minimax polynomial of Cephes (Moshier, expf.c). Largest relative error 1e-7.
  x = clamp(x, -87.3f, 88.0f);
  Expr n = floor(x * 1.44269504088896341f + 0.5f);
  Expr r = x - n * 0.693359375f - n * -2.12194440e-4f;
  Expr p = 1.9875691500e-4f;
  for (float coefficient : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
    p = p * r + coefficient;
  Expr mantissa = p * (r * r) + r + 1.0f;
  Expr power = reinterpret<float>((cast<int32_t>(n) + 127) << 23);
  return strict_float(mantissa * power);
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
  Expr eighth = cast<uint64_t>(1) << cast<uint64_t>(61);
  Expr quadrant = cast<int32_t>((turn.phase + eighth) >> cast<uint64_t>(62));
  Expr rest = cast<int64_t>(turn.phase - (cast<uint64_t>(quadrant) << cast<uint64_t>(62)));
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
  Expr turned = (quadrant + cast<int32_t>(cosine)) & 3; // cos(x) = sin(x + a quarter turn)
  Expr value = select((turned & 1) == 1, cosineSeries, sine);
  return strict_float(select(turned >= 2, Expr(0.0) - value, value));
}

} // namespace burin
