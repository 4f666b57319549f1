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
#include "schedules/parameters.h"
#include "schedules/targets.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>
#include <vector>

namespace burin {

/// Names of the axes, the same in every kernel.
namespace axis {
inline Halide::Var feature() { return Halide::Var("feature"); } // column of a row
inline Halide::Var row() { return Halide::Var("row"); }
inline Halide::Var lane() { return Halide::Var("lane"); } // within a panel, or the partial sums of a row or of keys
inline Halide::Var panel() { return Halide::Var("panel"); }
inline Halide::Var key() { return Halide::Var("key"); }
inline Halide::Var head() { return Halide::Var("head"); }
} // namespace axis

/// The largest or the smallest of a row's numbers: partial(lane, row) has an update over groups of `lanes` features,
/// value(row) one over the lanes. Of integers: no order changes a bit.
struct RowExtreme {
  static constexpr int lanes = 16;
  Halide::Func partial, value;
};

/// Rows in fewer bits: values(k, row), k below `depth`, K rounded up to whole groups. In integers (dialect/int8.h) each
/// is made of those before it; of bfloat16 there are the values alone.
struct QuantisedRows {
  RowExtreme largest, outlier, highest, lowest;
  Halide::Func range, scale, inverse, bottom, offset; // (row)
  Halide::Func values;
  int64_t depth;
};

/// total(lane, panel, row) = Σ_k x(k, row) · W(lane, k, panel), summed in `accumulator`, whose update has one
/// reduction variable, k. `input` is x, computed where it is read unless a schedule says otherwise. It reads rows
/// beyond the last from within, so a tile of rows may always be whole. Of rows in fewer bits the
/// accumulator's update has two variables: terms that an instruction adds up, and steps of them. Where they are
/// integers, accumulator(lane, panel, row, group) is the sum of a group of k; groups(lane, panel, row) has an update
/// over the groups, and `total` follows from it. Where the target has a depth tile, `tile` (lane, panel, row, tile of
/// k) sums one, in its update; the accumulator's variable counts tiles; `rows` (k, row) and `weights` (lane, k, panel)
/// are what the tiles read, 0 beyond the depth.
struct ContractStage {
  Halide::Func input, accumulator, total;
  Halide::Func tile, rows, weights;       // undefined without a depth tile
  int64_t depth = 0;                      // K
  int64_t features = 0;                   // N
  int64_t panel = 0;                      // columns of a panel
  std::optional<QuantisedRows> quantised; // of weights in int8 or bf16-dot
  Halide::Func groups;                    // of integers
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

/// Attention. Axes: (row, feature of the head, head) for `queries`, (key, feature of the head, head) for `keys`, (row,
/// key, head) for what is per pair of them, (lane, row, head) for maxima and sums in lanes of keys, (row, head) for
/// what is one number for a query, (feature, row, head) for the values. `product`, `laneMax`, `laneSum` and `gathered`
/// have updates with one reduction variable each; `gathered` has one for each stretch of keys, of which `updateOfTile`
/// says more, or one over tiles of keys, each the sum of `tile`, which has such an update too.
struct AttendStage {
  Halide::Func values;         // (feature of the head, key, head) what gathered reads: may be stored
  Halide::Func queries, keys;  // what product reads: to be stored in the order that a schedule wants, or not at all
  Halide::Func product, score; // q · k in registers; then scaled and masked
  Halide::Func laneMax;
  std::vector<Halide::Func> maxHalves; // over the lanes
  Halide::Func largest, weight;        // exp(score − largest)
  Halide::Func laneSum;
  std::vector<Halide::Func> sumHalves;
  Halide::Func sum, gathered, part; // Σ weight · v in registers; the same in memory
  Halide::Func tile;                // of gathered, (feature, row, head, tile of keys), where it is summed in tiles
  int64_t heads, keyWidth, valueWidth;
  int64_t queryTile; // queries whose keys are looked at together: limits of keys are one for all of them
  int updateOfTile;  // of `gathered`: the one whose keys are the same for a tile of queries; the others' are each row's
                     // own
  int64_t mostKeys;  // that a sequence may have
  bool fixedKeys;    // it always has so many
  bool keysOfRows;   // it has as many as there are rows: few of them where rows are few
  bool keysInLanes;  // k is stored with tiles of keys across lanes: vectors of `keys` along keys are loads
};

/// sum(feature, row) over the rows of a sequence, in row order, in its update.
struct PoolStage {
  Halide::Func sum;
};

/// The parameters of a kernel's schedules: those that were chosen, and what the schedules made of them and of the rest.
struct ParameterChoice {
  ScheduleParameters given, used;
  int64_t mostRows = 0; // of a call of this code; 0: any number
};

/// One anchor with its prologue and epilogue. Everything that is not recorded is elementwise and may be inlined.
struct KernelGroup {
  KernelClass kernelClass = KernelClass::Pointwise;
  std::optional<ContractStage> contract;
  std::optional<AttendStage> attend;
  std::optional<PoolStage> pool;
  std::vector<KeptStage> kept;             // in order of computation
  std::vector<RowSumStage> sums;           // likewise
  std::vector<RowValueStage> rowValues;    // likewise
  Halide::Func output;                     // (feature, row)
  int64_t features = 0;                    // of the output
  int64_t fixedRows = 0;                   // rows of the output where their number is always the same; else 0
  bool intermediate = false;               // later groups read it; otherwise it is an output of the kernel
  std::shared_ptr<ParameterChoice> choice; // the kernel's; null: everything is derived

  /// The value of a parameter: `derived`, unless another was chosen. `used` makes what can be done of it (a divisor of
  /// something, say), which is what the kernel is said to have.
  int parameter(Parameter parameter, int derived, llvm::function_ref<int(int)> used = nullptr) const;

  /// Most rows of a call of this code; 0: any number.
  int64_t mostRows() const { return choice ? choice->mostRows : 0; }
};

/// Values that are written besides the results: a row appended to a cache, (feature, row); rows scattered over the
/// whole storage of one, in the update, whose first reduction variable is the feature; accumulators, (feature), whose
/// new value may have an update along the rows, (feature, row).
struct StateWrite {
  Halide::Func value;
  int64_t features;
  bool scattered = false;
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
  /// Numbers of rows up to which a class derives schedules of their own, each the end of a bucket
  /// (tuner/row_buckets.h); null: none.
  llvm::ArrayRef<int64_t> (*fewRows)(KernelClass) = nullptr;
};

// The schedule files' entries, by the name in targets.def.
const Schedules &genericSchedules();
const Schedules &x86Schedules();
const Schedules &armSchedules();
const Schedules &gpuSchedules();

} // namespace burin
