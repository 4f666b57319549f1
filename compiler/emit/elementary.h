// Elementary functions as expressions of exactly rounded operations: the same bits on every schedule, vector width and
// row count, and no call to a math library (Halide's own sin and tanh become scalar calls).
#pragma once

#include "Halide.h"

namespace burin {

/// e^x for float x; below −87 and above 88 it stays what it is there; never an infinity.
Halide::Expr exponential(Halide::Expr x);

/// e^x for x ≤ 0; 0 below −87. Not a number where x is not.
Halide::Expr exponentialOfNegative(Halide::Expr x);

/// The integral of the normal density from 0 to x, erf(x / √2) / 2, for float x; exactly −1/2 and 1/2 beyond ±5.6. The
/// error, times |x|, is below 1.2e-6.
Halide::Expr normalIntegral(Halide::Expr x);

/// An angle as a 64-bit fraction of a turn: wraps around by itself.
struct Turn {
  Halide::Expr phase; // uint64: angle / 2π · 2^64
};

/// sin and cos (in double) of a turn; `cosine` is an integer expression, 1 for cos and 0 for sin.
Halide::Expr sineOfTurn(Turn turn, Halide::Expr cosine);

} // namespace burin
