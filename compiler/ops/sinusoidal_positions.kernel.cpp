// How sinusoidal_positions is computed: the angle as a 64-bit fraction of a turn, exact at any position.
#include "dialect/encoder.h"
#include "emit/elementary.h"
#include "emit/kernel_builder.h"
#include <cmath>
#include <numbers>

using namespace burin;
using namespace Halide;

void SinusoidalPositionsOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  int features = int(getFeatures());
  Func y("sinusoidal_positions");

  // P(t, 2i) = sin(t / 10000^(2i/d)), P(t, 2i + 1) = cos of the same. Turns per position, 10000^(−2i/d) / 2π, is a
  // 64-bit fixed-point fraction; times t it wraps around by whole turns, so the angle is off by t · 2^-65 turns at
  // most: 1e-9 at t = 2^32, where t / 10000^(2i/d) in double is off by 1e-7.
  Buffer<uint64_t> turns(features); // without a name: a kernel may hold several
  for (int i = 0; i < features; ++i)
    turns(i) = uint64_t(std::round(std::pow(10000.0L, -(long double)(i - i % 2) / features) /
                                   (2 * std::numbers::pi_v<long double>)*18446744073709551616.0L));
  Expr phase = cast<uint64_t>(kernel.position(0, row)) * turns(feature);
  y(feature, row) = cast<float>(sineOfTurn({phase}, feature % 2));

  kernel.define(y);
}
