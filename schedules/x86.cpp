// x86-64 with AVX2 or AVX-512: register tiles over packed panels, attention in tiles of keys and queries, row norms
// where the row is still in cache. Written for vectors of `lanes` floats and `registers` of them; the two ISAs differ
// in those numbers only.
//
// What made the difference when it was tried: accumulators are Funcs of their own, stored in registers; the unit of
// fusion for a norm is a block of about a hundred rows, with panels outside and row tiles inside, so that weights are
// read once a block and not once a tile.
#include "schedules/schedule.h"
#include <algorithm>

using namespace Halide;

namespace burin {

static const int blockRows = 96; // derived: 96 rows of 384 … 1536 floats stay in 1 MB of L2. Rounded to row tiles.

/// Widest vector that holds `extent` features, no wider than the target's.
static int vectorWidth(int64_t extent, const Target &target) {
  return int(std::min<int64_t>(std::max<int64_t>(extent, 1), target.lanes));
}

static void vectorise(Stage stage, VarOrRVar axis, int64_t extent, const Target &target) {
  int width = vectorWidth(extent, target);
  if (width > 1)
    stage.vectorize(axis, width, extent % width ? TailStrategy::Predicate : TailStrategy::Auto);
}

/// Innermost axis as vectors that are all written out, so that what they index can live in registers.
static void inRegisters(Stage stage, VarOrRVar axis, int64_t extent, const Target &target) {
  vectorise(stage, axis, extent, target);
  if (extent > vectorWidth(extent, target))
    stage.unroll(axis);
}

/// The sums of a row: partial sums in registers, then halves of them, down to one value.
static void rowSums(const KernelGroup &group, const Target &target) {
  Func y = group.output;
  Var lane = axis::lane(), row = axis::row();
  auto place = [&](Func f) { return f.compute_at(y, row).store_in(MemoryType::Register); };
  for (RowSumStage sum : group.sums) {
    place(sum.partial).bound(lane, 0, target.rowLanes);
    inRegisters(sum.partial, lane, target.rowLanes, target);
    if (sum.whole) {
      RVar groups(sum.partial.rvars(0)[0]);
      sum.partial.update(0).reorder(lane, groups);
      inRegisters(sum.partial.update(0), lane, target.rowLanes, target);
    }
    if (sum.rest > 1) {
      RVar rest(sum.partial.rvars(sum.whole ? 1 : 0)[0]);
      sum.partial.update(sum.whole ? 1 : 0).vectorize(rest);
    } else if (sum.rest) {
      sum.partial.update(sum.whole ? 1 : 0).unscheduled();
    }
    int64_t lanes = target.rowLanes / 2;
    for (Func half : sum.halves) {
      inRegisters(place(half), lane, lanes, target);
      lanes /= 2;
    }
  }
  for (RowValueStage value : group.rowValues)
    place(value.value);
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

/// A contract over one row: several panels at once, so that enough sums are under way to hide their latency.
static void contractOneRow(const ContractStage &stage, Func consumer, int64_t features, const Target &target) {
  Var lane = axis::lane(), panel = axis::panel(), row = axis::row(), group("group"), within("within");
  int64_t panels = (stage.features + stage.panel - 1) / stage.panel;
  int64_t vectors = std::max<int64_t>(stage.panel / target.lanes, 1), together = 1;
  for (int64_t n = 1; n <= panels; ++n) // derived: up to half of the registers
    if (panels % n == 0 && n * vectors <= target.registers / 2)
      together = n;
  int columns = int(together * stage.panel);
  consumer
      .split(axis::feature(), group, within, columns,
             features % columns ? TailStrategy::GuardWithIf : TailStrategy::Auto)
      .reorder(within, row, group);
  vectorise(consumer, within, stage.panel, target);
  Func total = stage.total, accumulator = stage.accumulator;
  RVar k(accumulator.rvars(0)[0]);
  for (Func f : {total, accumulator}) {
    f.compute_at(consumer, group).bound(lane, 0, int(stage.panel)).bound_extent(panel, int(together));
    f.reorder(lane, panel, row).unroll(panel);
    inRegisters(f, lane, stage.panel, target);
  }
  total.store_in(MemoryType::Stack);
  accumulator.store_in(MemoryType::Register);
  accumulator.update().reorder(lane, panel, k, row).unroll(panel);
  inRegisters(accumulator.update(), lane, stage.panel, target);
}

static void contract(const KernelGroup &group, const Target &target) {
  const ContractStage &stage = *group.contract;
  Func y = group.output;
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), panel = axis::panel();
  rowSums(group, target);

  // The first value that is kept is the contract with its epilogue; without one, the output is.
  bool kept = !group.kept.empty();
  Func consumer = kept ? group.kept.front().value : y;
  int64_t features = kept ? group.kept.front().features : group.features;
  for (size_t i = 1; i < group.kept.size(); ++i) {
    Func value = group.kept[i].value;
    value.compute_at(y, row).store_in(MemoryType::Heap);
    vectorise(value, feature, group.kept[i].features, target);
  }

  if (group.oneRow) {
    if (kept) {
      consumer.compute_at(y, row).store_in(MemoryType::Stack).bound(feature, 0, int(features));
      vectorise(y, feature, group.features, target);
    }
    contractOneRow(stage, consumer, features, target);
    return;
  }

  // A row tile: as many rows as leave, beside their sums, registers for a row of the panel and a broadcast. Derived; at
  // most 12, where loads no longer limit; even, because sequences tend to be.
  int vectors = int(std::max<int64_t>(stage.panel / target.lanes, 1));
  int tileRows = std::min(12, (target.registers - vectors - 1) / vectors);
  tileRows -= tileRows > 1 ? tileRows % 2 : 0;
  int block = blockRows / tileRows * tileRows;

  Var rowBlock("row_block"), rowTile("row_tile"), tileRow("tile_row"), column("column");
  if (kept) {
    y.split(row, rowBlock, row, block, TailStrategy::GuardWithIf);
    vectorise(y, feature, group.features, target);
    consumer.compute_at(y, rowBlock).store_in(MemoryType::Heap).bound(feature, 0, int(features));
    consumer.split(row, rowTile, tileRow, tileRows, TailStrategy::GuardWithIf);
  } else {
    // Without a norm there is no block: a panel is read once for all rows, and the rows stream by.
    y.split(row, rowTile, tileRow, tileRows, TailStrategy::GuardWithIf);
  }
  consumer
      .split(feature, panel, column, int(stage.panel),
             features % stage.panel ? TailStrategy::GuardWithIf : TailStrategy::Auto)
      .reorder(column, tileRow, rowTile, panel);
  vectorise(consumer, column, stage.panel, target);

  Func total = stage.total, accumulator = stage.accumulator;
  RVar k(accumulator.rvars(0)[0]);
  total.compute_at(consumer, rowTile).store_in(MemoryType::Stack);
  accumulator.compute_at(consumer, rowTile).store_in(MemoryType::Register);
  for (Func f : {total, accumulator}) {
    f.bound(lane, 0, int(stage.panel)).bound_extent(panel, 1).bound_extent(row, tileRows);
    f.reorder(lane, row, panel).unroll(row);
    inRegisters(f, lane, stage.panel, target);
  }
  accumulator.update().reorder(lane, row, k, panel).unroll(row);
  inRegisters(accumulator.update(), lane, stage.panel, target);
}

static void attend(const KernelGroup &group, const Target &target) {
  AttendStage stage = *group.attend;
  Func y = group.output;
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), tile = axis::tile(), head = axis::head();
  Var within("within"), queries("queries"), query("query");
  int keyTile = int(stage.keyTile), queryTile = int(stage.queryTile);
  int64_t width = std::max<int64_t>(stage.valueWidth, 4);

  y.split(feature, head, within, int(stage.valueWidth))
      .split(row, queries, query, queryTile, TailStrategy::GuardWithIf)
      .reorder(within, query, queries, head);
  vectorise(y, within, stage.valueWidth, target);
  // Few tiles: what is stored per tile of keys has a fixed place on the stack, which costs nothing to allocate.
  // Derived: the largest, scores and weights, stay within half of L1 together.
  bool onStack = stage.mostTiles * keyTile * queryTile * 4 <= 8 * 1024;
  auto perQueryTile = [&](Func f) {
    f.compute_at(y, queries).store_in(onStack ? MemoryType::Stack : MemoryType::Heap).bound_extent(row, queryTile);
    for (const Var &axis : f.args())
      if (onStack && axis.name() == tile.name())
        f.bound_storage(tile, int(stage.mostTiles));
    return f;
  };

  Func keys = stage.keys, product = stage.product, dots = stage.dots, score = stage.score, weight = stage.weight;
  Func part = stage.part, gathered = stage.gathered;
  if (!stage.keysInLanes) {
    keys.compute_at(y, head).store_in(MemoryType::Heap).bound(lane, 0, keyTile);
    keys.reorder(lane, feature, tile);
    vectorise(keys, lane, keyTile, target);
  }

  // A register tile: a tile of keys, and as many queries as leave registers for the keys and a broadcast. Derived.
  Var tileRow("tile_row"), rowTile("row_tile");
  int tileRows = std::min(queryTile, std::max(1, (target.registers - 4) * target.lanes / keyTile));
  while (queryTile % tileRows)
    --tileRows;
  RVar i(product.rvars(0)[0]), l(gathered.rvars(0)[0]), t(stage.numerator.rvars(0)[0]);
  perQueryTile(score).bound(lane, 0, keyTile).split(row, rowTile, tileRow, tileRows);
  score.reorder(lane, tileRow, rowTile, tile);
  inRegisters(score, lane, keyTile, target);
  dots.compute_at(score, rowTile).store_in(MemoryType::Stack);
  product.compute_at(score, rowTile).store_in(MemoryType::Register);
  for (Func f : {dots, product}) {
    f.bound(lane, 0, keyTile).bound_extent(row, tileRows).reorder(lane, row, tile).unroll(row);
    inRegisters(f, lane, keyTile, target);
  }
  product.update().reorder(lane, row, i, tile).unroll(row);
  inRegisters(product.update(), lane, keyTile, target);

  for (Func f : {stage.tileMax, stage.tileSum})
    perQueryTile(f).reorder(row, tile);
  perQueryTile(weight).bound(lane, 0, keyTile).reorder(lane, row, tile);
  vectorise(weight, lane, keyTile, target);
  for (auto [halves, whole] :
       {std::pair(&stage.maxHalves, stage.tileMax), std::pair(&stage.sumHalves, stage.tileSum)}) {
    int64_t lanes = keyTile / 2;
    for (Func half : *halves) {
      half.compute_at(whole, row).store_in(MemoryType::Register);
      inRegisters(half, lane, lanes, target);
      lanes /= 2;
    }
  }

  // What is one number for each query lies with queries across lanes. Derived: the widest power of two in a query tile.
  int queryLanes = queryTile & -queryTile;
  auto acrossQueries = [&](Stage stage) {
    if (queryLanes > 1)
      stage.vectorize(row, queryLanes);
  };
  for (Func f : {stage.share, stage.largest, stage.denominator}) {
    perQueryTile(f);
    acrossQueries(f);
  }
  stage.share.reorder(row, tile);
  for (Func f : {stage.largest, stage.denominator}) {
    RVar tiles(f.rvars(0)[0]);
    f.update().reorder(row, tiles);
    acrossQueries(f.update());
  }
  for (Func f : {stage.share, stage.tileMax, stage.tileSum})
    f.reorder_storage(row, tile, head);

  // Sums of a tile in registers: as wide as a tile of keys, for as many queries, like the scores.
  Var features("features");
  int64_t together = width;
  if (width > keyTile && width % target.lanes == 0)
    for (together = keyTile; width % together; together -= target.lanes) {
    }
  perQueryTile(part).bound(feature, 0, int(width)).split(feature, features, within, int(together));
  part.split(row, rowTile, tileRow, tileRows).reorder(within, tileRow, features, rowTile, tile).unroll(tileRow);
  inRegisters(part, within, together, target);
  gathered.compute_at(part, features).store_in(MemoryType::Register);
  gathered.bound_extent(feature, int(together)).bound_extent(row, tileRows).reorder(feature, row).unroll(row);
  inRegisters(gathered, feature, together, target);
  gathered.update().reorder(feature, row, l).unroll(row);
  inRegisters(gathered.update(), feature, together, target);

  perQueryTile(stage.numerator).bound(feature, 0, int(width));
  vectorise(stage.numerator, feature, width, target);
  stage.numerator.update().reorder(feature, t, row);
  vectorise(stage.numerator.update(), feature, width, target);
}

static void pool(const KernelGroup &group, const Target &target) {
  pointwise(group, target);
  if (!group.pool)
    return;
  Func sum = group.pool->sum;
  RVar time(sum.rvars(0)[0]);
  sum.compute_root().store_in(MemoryType::Heap);
  vectorise(sum, axis::feature(), group.features, target);
  sum.update().reorder(axis::feature(), time, axis::row());
  vectorise(sum.update(), axis::feature(), group.features, target);
}

static void intermediate(const KernelGroup &group, const Target &) {
  Func(group.output).compute_root().store_in(MemoryType::Stack).bound(axis::feature(), 0, int(group.features));
}

static void stored(const StateWrite &value, const Target &target) {
  Func(value.value).compute_root().store_in(MemoryType::Stack).bound(axis::feature(), 0, int(value.features));
  vectorise(Func(value.value), axis::feature(), value.features, target);
}

static void stateWrite(const StateWrite &write, const Target &target) {
  vectorise(Func(write.value), axis::feature(), write.features, target);
}

const Schedules &x86Schedules() {
  static const Schedules schedules{pointwise, rowReduce, contract, attend, pool, intermediate, stored, stateWrite};
  return schedules;
}

} // namespace burin
