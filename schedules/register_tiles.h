// The structure that schedules of vectors and registers share: register tiles over packed panels, attention in tiles of
// queries, row norms where the row is still in cache. Written for vectors of `lanes` floats and `registers` of them; a
// target's schedule file gives the sizes of the tiles, and changes what its instructions want otherwise: a Halide
// schedule may be added to afterwards.
//
// Rejected: a copy of it in each target's file. The sizes and the few lines that are the target's own were lost in it.
#pragma once

#include "schedules/schedule.h"

namespace burin::register_tiles {

/// How much of attention is in registers at once: a tile of queries by `keys` products, and `queries` by two vectors of
/// features of weighted values.
struct AttendTiles {
  int keys, queries;
};

/// Vectors in a row of a panel; at least one.
int vectorsOfPanel(const ContractStage &stage, const Target &target);

void pointwise(const KernelGroup &group, const Target &target);
void rowReduce(const KernelGroup &group, const Target &target);
/// Unless a record says otherwise, of `tileRows` an even number is taken, at most 12; where there is always one row,
/// several panels lie side by side.
void contract(const KernelGroup &group, const Target &target, int tileRows);
/// Several terms of a contract's sums in its loop, where the schedule has done nothing else with them, and where that
/// changes no bit.
void unrollDepth(const KernelGroup &group, const Target &target);
void attend(const KernelGroup &group, const Target &target, AttendTiles tiles);
void pool(const KernelGroup &group, const Target &target);
void intermediate(const KernelGroup &group, const Target &target);
void stored(const StateWrite &value, const Target &target);
void stateWrite(const StateWrite &write, const Target &target);
/// Contracts and attention: a tile of many rows computes rows that are not there. Measured: from five rows on that is
/// less than another copy of the code is worth.
llvm::ArrayRef<int64_t> fewRows(KernelClass kernelClass);

} // namespace burin::register_tiles
