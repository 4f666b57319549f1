// Floating-point operations of a graph, an entry or a kernel: what percentages of the FMA peak are of.
#pragma once

#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace burin {

/// Rows of one sequence, by time symbol; the empty symbol is that of the rows that a stream keeps, each of which counts
/// no more than its state has room for. What is not here counts its maximum.
using RowCounts = llvm::StringMap<int64_t>;

/// The entry of a stream that takes one row, or several; null where there is none.
mlir::func::FuncOp entryOf(mlir::ModuleOp module, llvm::StringRef stream, bool many);

/// Of one op: what can be computed as a kernel's; 0 for all else.
double flopsOf(mlir::Operation *op, const RowCounts &rows);

/// Of all ops in `function` and what it calls, as their rooms count them: two for each multiply-add of a product of
/// matrices. Elementwise work and reductions count nothing: they are not what the peak is of.
double flopsIn(mlir::func::FuncOp function, const RowCounts &rows);

} // namespace burin
