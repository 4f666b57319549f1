// What a kernel tells its target about its structure, and what a target's schedule file provides in return.
//
// The rooms describe algorithms; as they do, the builder records which Funcs play which part. Those records, and
// nothing else, are what a schedule sees: a schedule never asks which op a Func came from, so ops and targets stay a
// sum and never become a product.
//
// Rejected: schedules that find their way by Func names (they break silently), and schedules in the rooms (every op
// would know every target).
#pragma once

#include "Halide.h"
#include "dialect/kernel_class.h"
#include "schedules/targets.h"
#include <optional>
#include <vector>

namespace burin {

/// Names of the axes, the same in every kernel.
namespace axis {
inline Halide::Var feature() { return Halide::Var("feature"); } // column of a row
inline Halide::Var row() { return Halide::Var("row"); }
inline Halide::Var lane() { return Halide::Var("lane"); } // within a panel, a key tile, or the partial sums of a row
inline Halide::Var panel() { return Halide::Var("panel"); }
inline Halide::Var tile() { return Halide::Var("tile"); } // of keys
inline Halide::Var head() { return Halide::Var("head"); }
} // namespace axis

/// total(lane, panel, row) = Σ_k x(k, row) · W(lane, k, panel), summed in `accumulator`, whose update has one
/// reduction variable, k. The algorithm reads rows beyond the last from within, so a tile of rows may always be whole.
struct ContractStage {
  Halide::Func accumulator, total;
  int64_t depth;    // K
  int64_t features; // N
  int64_t panel;    // columns of a panel
};

/// A value of rows, (feature, row), that is read more than once for each row: it must be stored.
struct KeptStage {
  Halide::Func value;
  int64_t features;
};

/// sum(row) of x(feature, row) over the features, in the numeric form. partial(lane, row) has an update over the whole
/// groups of `rowLanes` features and, where they do not divide, one over the rest; halves[n] (lane, row) adds the upper
/// half of the lanes to the lower; `sum` adds the last two.
struct RowSumStage {
  Halide::Func partial;
  std::vector<Halide::Func> halves;
  Halide::Func sum;
  int64_t whole, rest; // features / rowLanes and features % rowLanes
};

/// A scalar per row: it must be stored.
struct RowValueStage {
  Halide::Func value;
};

/// Attention, tile of keys by tile of keys. Axes: (lane, feature of the head, tile, head) for `keys`,
/// (lane, tile, row, head) for what is per key, (tile, row, head) for what is per tile, (feature, row, head) for the
/// numerator. `product` and `gathered` sum in updates with one reduction variable; so do `largest`, `denominator` and
/// `numerator`, over the tiles.
struct AttendStage {
  Halide::Func keys;                   // transposed: lanes are keys
  Halide::Func product, dots, score;   // q · k in registers; the same in memory; then scaled and masked
  std::vector<Halide::Func> maxHalves; // over the lanes of a tile
  Halide::Func tileMax, weight;        // exp(score − tileMax)
  std::vector<Halide::Func> sumHalves;
  Halide::Func tileSum, gathered, part; // Σ weight · v within the tile, in registers; the same in memory
  Halide::Func largest, share, denominator, numerator;
  int64_t heads, keyWidth, valueWidth, keyTile, queryTile;
  int64_t mostTiles; // most tiles of keys that a sequence may have
  bool causal;
  bool keysInLanes; // k is stored with keys across lanes already; `keys` need not be
};

/// sum(feature, row) over the rows of a sequence, in row order, in its update.
struct PoolStage {
  Halide::Func sum;
};

/// One anchor with its prologue and epilogue. Everything that is not recorded is elementwise and may be inlined.
struct KernelGroup {
  KernelClass kernelClass = KernelClass::Pointwise;
  std::optional<ContractStage> contract;
  std::optional<AttendStage> attend;
  std::optional<PoolStage> pool;
  std::vector<KeptStage> kept;          // in order of computation
  std::vector<RowSumStage> sums;        // likewise
  std::vector<RowValueStage> rowValues; // likewise
  Halide::Func output;                  // (feature, row)
  int64_t features = 0;                 // of the output
  bool oneRow = false;                  // the output has exactly one row
  bool intermediate = false;            // later groups read it; otherwise it is an output of the kernel
};

/// Values that are written besides the results: rows appended to a cache, (feature, row), and accumulators, (feature).
struct StateWrite {
  Halide::Func value;
  int64_t features;
};

/// What a schedule file provides: a function for each kernel class. `whole` is not among them: it is its groups' own
/// schedules, with what passes between groups stored by `intermediate`.
struct Schedules {
  void (*pointwise)(const KernelGroup &, const Target &);
  void (*rowReduce)(const KernelGroup &, const Target &);
  void (*contract)(const KernelGroup &, const Target &);
  void (*attend)(const KernelGroup &, const Target &);
  void (*pool)(const KernelGroup &, const Target &);
  void (*intermediate)(const KernelGroup &, const Target &); // called after the group's own
  void (*stored)(const StateWrite &, const Target &);        // an accumulator's new value, before it is written
  void (*stateWrite)(const StateWrite &, const Target &);
};

// The schedule files' entries, by the name in targets.def.
const Schedules &genericSchedules();
const Schedules &x86Schedules();

} // namespace burin
