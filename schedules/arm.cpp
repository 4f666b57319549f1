// ARM NEON: register tiles in 32 registers of 4 lanes.
//
// `fmla v.4s, v.4s, v.s[lane]` multiplies by one lane of a register: four values that follow one another in a row of
// the input are one load, and each is used where it lies. A load for each value, as a broadcast from memory would be,
// costs one more instruction for every three fmla. So the sums go on by four terms at a time, in order.
#include "schedules/register_tiles.h"
#include <algorithm>

using namespace Halide;

namespace burin {

using namespace register_tiles;

/// Whether sums of so many terms go on by vectors of them. A vector must not reach beyond the row; and where one vector
/// is the whole row no loop is left, and the compiler takes the first two products in either order: other bits.
static bool goesByLane(int64_t terms, const Target &target) {
  return terms % target.lanes == 0 && terms > target.lanes;
}

/// The update of `sums`, four terms of its reduction at a time, with those of `factor`, (… term …), loaded as a vector.
static void byLane(Func sums, Func factor, Var term, const Target &target) {
  RVar k(sums.rvars(0)[0]), group("term_group"), within("term_within");
  sums.update().split(k, group, within, target.lanes).unroll(within);
  factor.compute_at(sums, group).store_in(MemoryType::Register).vectorize(term, target.lanes, TailStrategy::RoundUp);
  for (Var other : factor.args())
    if (other.name() != term.name())
      factor.unroll(other);
}

static void contract(const KernelGroup &group, const Target &target) {
  const ContractStage &stage = *group.contract;
  // A row tile: beside its sums, a vector of input for each row, and a row of the panel. Derived.
  int vectors = vectorsOfPanel(stage, target);
  register_tiles::contract(group, target, (target.registers - vectors) / (vectors + 1));
  if (!stage.quantised && goesByLane(stage.depth, target))
    byLane(stage.accumulator, stage.input, axis::feature(), target);
  else
    unrollDepth(group, target);
}

static void attend(const KernelGroup &group, const Target &target) {
  AttendStage stage = *group.attend;
  // Derived: a tile of 16 queries is four vectors, by four keys; two vectors of features by eight queries. Either takes
  // half of the registers and leaves room for what is multiplied.
  int queryVectors = int(stage.queryTile / target.lanes);
  register_tiles::attend(group, target,
                         {.keys = target.registers / 2 / std::max(queryVectors, 1), .queries = target.registers / 4});
  if (group.fixedRows != 1 && goesByLane(stage.keyWidth, target))
    byLane(stage.product, stage.keys.in(stage.product), axis::feature(), target);
}

const Schedules &armSchedules() {
  static const Schedules schedules{
      pointwise, rowReduce,    contract, attend,
      pool,      intermediate, stored,   stateWrite}; // none for few rows: a tile of one row has other bits
  return schedules;
}

} // namespace burin
