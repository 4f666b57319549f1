// What a contract in int8 computes: the rule that kernels (ops/dense.kernel.cpp) and the packer (runtime/quantise.h)
// follow, in the form of the reference.
//
// Weights: the inputs are cut into groups; each group of a column has a scale, and a weight is
//   w ≈ scale · integer, integer = round(w · (127 / largest)), scale = largest · (1 / 127)
// Rows: the feature of largest magnitude, the first of such, stays a float: the outlier. The others, with 0 in its
// place, are spread over 8 bits by their range, 0 included:
//   x ≈ scale · (integer − bottom), integer = round(x · inverse), inverse = 254 / range, scale = range · (1 / 254)
// where bottom is the lowest of them; 254 and not 255, for with both ends rounded they lie within 255 of each other.
// Products and sums of a group are in integers and exact, in any order; the rest is in float32. All roundings are to
// nearest, ties to even, and of float32. A range or a largest magnitude below 2^-100, where its inverse would leave
// float32, is taken as 0.
//
// Why groups and an outlier: of MiniLM's texts the least cosine with float64 is 0.9935 with one scale for a row and one
// for a column. One feature in a thousand is several times as large as the others: it costs the others their bits, and
// it multiplies the rounding of its own weights, which then have scales of a few inputs.
// Rejected: outliers at fixed places (LLM.int8(), arXiv:2208.07339), which take inputs to calibrate with; scales moved
// from rows to weights (SmoothQuant, arXiv:2211.10438), for the same reason.
#pragma once

#include "dialect/host_tensor.h"

namespace burin {

/// Inputs that share a scale in each column, in groups of equal size; the last may have fewer. The same on every
/// target, so that a model's numbers are.
struct Int8Groups {
  int64_t size, count;
};
Int8Groups int8GroupsOf(int64_t inputs);

/// y(t, n) of rows x [T, K] and a weight [K, N], or [N, K] where `outIn` holds: integers, and the rest in float64.
HostTensor multiplyInInt8(const HostTensor &x, const HostTensor &weight, bool outIn);

} // namespace burin
