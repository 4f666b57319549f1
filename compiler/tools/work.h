// Floating-point operations of a graph, an entry or a kernel: what percentages of the FMA peak are of.
#pragma once

#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace burin {

/// Rows of one sequence, by time symbol; `step` is the symbol of the rows that a state keeps. What is not here counts
/// its maximum.
using RowCounts = llvm::StringMap<int64_t>;

/// Of all contracts and attention ops in `function` and what it calls: two for each multiply-add. Attention counts
/// every pair of query and key, masked or not. Elementwise work and reductions count nothing: they are not what the
/// peak is of.
double flopsIn(mlir::func::FuncOp function, const RowCounts &rows);

} // namespace burin
