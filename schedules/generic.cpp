// The schedules that are correct everywhere: what a new target starts from, and what the laws compare others with, bit
// for bit. Rows one at a time, plain vectors, everything that must be stored is stored; no register tiles, no
// unrolling.
#include "schedules/schedule.h"
#include <algorithm>

using namespace Halide;

namespace burin {

/// Vectorises the innermost axis. The tail is predicated: it neither reads nor writes beyond the last feature.
static void vectorise(Stage stage, VarOrRVar axis, int64_t extent, const Target &target) {
  int width = int(std::min<int64_t>(extent, target.lanes));
  if (width > 1)
    stage.vectorize(axis, width, extent % width ? TailStrategy::Predicate : TailStrategy::Auto);
}

/// Sums and scalars of a row, where the row is at hand.
static void rowSums(const KernelGroup &group, const Target &target) {
  Func y = group.output;
  for (RowSumStage sum : group.sums) {
    sum.partial.compute_at(y, axis::row()).store_in(MemoryType::Stack).bound(axis::lane(), 0, target.rowLanes);
    vectorise(sum.partial, axis::lane(), target.rowLanes, target);
    if (sum.whole) {
      RVar groups(sum.partial.rvars(0)[0]);
      sum.partial.update(0).reorder(axis::lane(), groups);
      vectorise(sum.partial.update(0), axis::lane(), target.rowLanes, target);
    }
    if (sum.rest)
      sum.partial.update(sum.whole ? 1 : 0).unscheduled();
    for (Func half : sum.halves)
      half.compute_at(y, axis::row()).store_in(MemoryType::Stack);
  }
  for (RowValueStage value : group.rowValues)
    value.value.compute_at(y, axis::row()).store_in(MemoryType::Stack);
}

static void pointwise(const KernelGroup &group, const Target &target) {
  vectorise(Func(group.output), axis::feature(), group.features, target);
}

static void rowReduce(const KernelGroup &group, const Target &target) {
  pointwise(group, target);
  rowSums(group, target);
  for (KeptStage kept : group.kept) {
    kept.value.compute_at(Func(group.output), axis::row()).store_in(MemoryType::Heap);
    vectorise(kept.value, axis::feature(), kept.features, target);
  }
}

static void quantiseRows(const QuantisedRows &rows, Func y) {
  for (const RowExtreme &extreme : {rows.largest, rows.outlier, rows.highest, rows.lowest}) {
    for (Func f : {extreme.partial, extreme.value})
      f.compute_at(y, axis::row()).store_in(MemoryType::Heap).update().unscheduled();
    Func(extreme.partial).bound(axis::lane(), 0, RowExtreme::lanes);
  }
  for (Func f : {rows.range, rows.scale, rows.inverse, rows.bottom, rows.offset, rows.values})
    f.compute_at(y, axis::row()).store_in(MemoryType::Heap);
  Func(rows.values).bound(axis::feature(), 0, int(rows.depth));
}

static void contract(const KernelGroup &group, const Target &target) {
  rowReduce(group, target);
  ContractStage stage = *group.contract;
  Func y = group.output;
  if (stage.quantised)
    quantiseRows(*stage.quantised, y);
  stage.total.compute_at(y, axis::row()).store_in(MemoryType::Heap).bound(axis::lane(), 0, int(stage.panel));
  stage.accumulator.compute_at(stage.total, axis::panel())
      .store_in(MemoryType::Heap)
      .bound(axis::lane(), 0, int(stage.panel));
  stage.total.reorder(axis::lane(), axis::row(), axis::panel());
  std::vector<VarOrRVar> order{axis::lane()};
  for (RVar k : stage.accumulator.rvars(0))
    order.push_back(k);
  order.insert(order.end(), {axis::row(), axis::panel()});
  stage.accumulator.update().reorder(order);
  if (stage.quantised) {
    RVar group(stage.groups.rvars(0)[0]);
    stage.groups.compute_at(stage.total, axis::panel())
        .store_in(MemoryType::Heap)
        .bound(axis::lane(), 0, int(stage.panel));
    stage.groups.update().reorder(axis::lane(), group, axis::row(), axis::panel());
    stage.accumulator.compute_at(stage.groups, group);
    for (Stage part : {Stage(stage.groups), stage.groups.update()})
      vectorise(part, axis::lane(), stage.panel, target);
  }
  for (Stage part : {Stage(stage.total), Stage(stage.accumulator), Stage(stage.accumulator.update())})
    vectorise(part, axis::lane(), stage.panel, target);
}

static void attend(const KernelGroup &group, const Target &target) {
  AttendStage stage = *group.attend;
  Func y = group.output;
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), key = axis::key(), head = axis::head();
  Var within("within");
  int width = int(stage.valueWidth + 3) / 4 * 4, lanes = width % target.lanes ? 4 : target.lanes;
  y.split(feature, head, within, int(stage.valueWidth)).reorder(within, row, head);
  auto stored = [&](Func f) { return f.compute_at(y, row).store_in(MemoryType::Heap); };
  if (!stage.keysInLanes) {
    stage.keys.compute_at(y, head).store_in(MemoryType::Heap).align_bounds(key, int(target.keyTile));
    stage.keys.reorder(key, feature);
  }
  RVar i(stage.product.rvars(0)[0]);
  for (Func f : {stage.product, stage.score, stage.weight}) {
    stored(f).align_bounds(key, int(target.keyTile)).reorder_storage(key, row, head).reorder(key, row);
    vectorise(f, key, target.keyTile, target);
  }
  stage.product.update().reorder(key, i, row, head);
  vectorise(stage.product.update(), key, target.keyTile, target);
  for (auto *halves : {&stage.maxHalves, &stage.sumHalves})
    for (Func f : *halves)
      stored(f);
  for (Func f : {stage.laneMax, stage.laneSum}) {
    stored(f).bound(lane, 0, target.rowLanes);
    vectorise(f, lane, target.rowLanes, target);
    f.update().reorder(lane, RVar(f.rvars(0)[0]));
    vectorise(f.update(), lane, target.rowLanes, target);
  }
  stored(stage.largest);
  stored(stage.sum);
  // Sums over values are whole vectors: scalars and predicated tails might be reordered (schedules/schedule.h,
  // panelWidth).
  for (Func f : {stage.gathered, stage.part})
    stored(f).bound(feature, 0, width).vectorize(feature, lanes);
  for (int n = 0; n < stage.gathered.num_update_definitions(); ++n) {
    RVar s(stage.gathered.rvars(n)[0]);
    stage.gathered.update(n).reorder(feature, s, row, head).vectorize(feature, lanes);
  }
}

static void pool(const KernelGroup &group, const Target &target) {
  pointwise(group, target);
  if (!group.pool)
    return;
  Func sum = group.pool->sum;
  sum.compute_root().store_in(MemoryType::Heap);
  RVar time(sum.rvars(0)[0]);
  sum.update().reorder(axis::feature(), time, axis::row());
}

static void intermediate(const KernelGroup &group, const Target &) {
  Func(group.output).compute_root().store_in(MemoryType::Heap).bound(axis::feature(), 0, int(group.features));
}

static void stored(const StateWrite &value, const Target &) {
  Func(value.value).compute_root().store_in(MemoryType::Heap).bound(axis::feature(), 0, int(value.features));
}

static void stateWrite(const StateWrite &, const Target &) {}

const Schedules &genericSchedules() {
  static const Schedules schedules{pointwise, rowReduce, contract, attend, pool, intermediate, stored, stateWrite};
  return schedules;
}

} // namespace burin
