// How the work of a call may be split among workers. No bit of a result depends on a split: rows of a row-wise kernel
// know nothing of one another, and a query of attention sees the same keys whoever computes it.
//
// A row-wise kernel needs nothing for it: a worker is given the buffers of its rows. Attention reads whole sequences
// and writes some rows of one, so such a kernel takes the first of them as an argument, counted in tiles of queries:
// Halide then sees that tiles lie where they lie in the whole sequence.
//
// Rejected: splitting attention along heads. A worker's columns would be a part of every row, which a dense buffer
// cannot describe, and the number of heads is often no multiple of the number of workers.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/burin_plan.h"
#include "schedules/targets.h"

namespace burin {

struct PlanCall;

/// Queries that share limits of keys; results do not depend on it. Derived: a vector of the widest target.
inline constexpr int64_t queryTileRows = 16;

/// True where a kernel writes rows of its sequence from a tile of queries on, and is told which.
bool takesFirstTile(mlir::func::FuncOp kernel, const Target &target);

/// Fills in how `call`, of `forward`, may be split: its arguments are there. On a GPU it is not: its blocks share the
/// work.
void decideSplit(mlir::func::FuncOp kernel, const Target &target, PlanCall &call);

} // namespace burin
