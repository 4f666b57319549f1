// x86-64 with SSE4.1, AVX2 or AVX-512: register tiles; the ISAs differ in their vectors and registers, and SSE4.1 in
// that a product takes a register before it is added.
#include "schedules/register_tiles.h"

namespace burin {

using namespace register_tiles;

static void contract(const KernelGroup &group, const Target &target) {
  // Rows of bfloat16 are in pairs, as those of integers are in fours.
  Precision precision = group.contract->quantised ? Precision::Int8 : Precision::Float32;
  register_tiles::contract(group, target, int(rowTile(target, precision, group.contract->panel)));
  unrollDepth(group, target);
}

static void attend(const KernelGroup &group, const Target &target) {
  // Derived: with one or two vectors of queries, either tile takes at most half of the registers.
  register_tiles::attend(group, target, {.keys = target.registers / 4, .queries = target.registers / 4});
}

const Schedules &x86Schedules() {
  static const Schedules schedules{pointwise,    rowReduce, contract,   attend, pool,
                                   intermediate, stored,    stateWrite, fewRows};
  return schedules;
}

} // namespace burin
