// What Halide's back end for vector predication (RISC-V's V) cannot compile, written so that it can.
//
// That back end (Halide 21) turns operations on vectors into LLVM's `llvm.vp.*`, and two of them come out wrong.
// `llvm.vp.select` takes a mask, but a condition that is the same in all lanes comes to it as a scalar, whether the
// select holds it so or broadcast, and LLVM refuses the module: "Intrinsic has incorrect argument type!". And a `not`
// becomes `llvm.vp.not`, which LLVM does not have: the object would call a function of that name. Whatever is masked or
// gated has such operations.
//
// Asked is Halide's feature and not a row of targets.def: the limit is the back end's, for vectors of every width. The
// code of other targets stays as it is. Rejected: to multiply with rows of 0 and 1, which lets a NaN through that was
// not selected.
#pragma once

#include "Halide.h"

namespace burin {

/// Adds the rewriting to the pipeline's lowering where the target's back end needs it; for other targets nothing.
void addVectorPredication(Halide::Pipeline &pipeline, const Halide::Target &target);

} // namespace burin
