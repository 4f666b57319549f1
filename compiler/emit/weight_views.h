// The buffers through which a kernel reads its blob of weights: the same bytes as floats, which biases and tables are,
// and as each other type that its panels are packed as. One list for the kernel's arguments and for the plan that
// describes them.
//
// Rejected: a blob of each type. A call would stream as many pieces, each with its own padding and place.
#pragma once

#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace burin {

struct WeightView {
  Precision precision;
  int planType; // BURIN_F32 …
  int64_t elementBytes;
};

/// Of a kernel that has weights, in the order of its arguments. The first is of floats.
llvm::SmallVector<WeightView> weightViewsOf(mlir::func::FuncOp kernel);

/// What an argument's panels are packed as; float32 where it is none.
Precision precisionOfArgument(mlir::func::FuncOp kernel, unsigned index);

} // namespace burin
