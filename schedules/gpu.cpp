// GPU schedules, for every API that Halide has: nothing here is particular to one.
//
// A block of threads makes a tile of rows: what it reads more than once it first brings to shared memory, and what a
// thread sums it sums in registers. Threads are numbered by two axes everywhere in a kernel, `thread` along features,
// lanes or keys and `thread_row` along rows; Halide runs a block with as many as the widest stage asks for.
//
// A row's sums are in the numeric form and no thread's work depends on how many rows there are, so a row has the same
// bits in every batch. Rejected: sums across the threads of a warp by shuffles, which OpenCL does not have in common.
#include "schedules/schedule.h"
#include <algorithm>

using namespace Halide;

namespace burin {

namespace {

// Derived: a block of 256 threads or a little fewer fills a multiprocessor in eights, and leaves each thread the
// registers that a tile of 4 × 4 sums takes.
constexpr int blockRows = 64;          // of a contract without a norm
constexpr int threadColumns = 4;       // of a contract's tile that one thread sums: a vector load of shared memory
constexpr int warp = 32;               // threads that go together; a full line of memory
constexpr int sharedBytes = 16 * 1024; // for the rows that a block keeps: a third of what a block has everywhere

/// The largest power of two up to `most` of which `bytesEach` leave room in shared memory; at least 1.
int rowsThatFit(int64_t bytesEach, int most, int64_t room = sharedBytes) {
  int rows = most;
  while (rows > 1 && rows * bytesEach > room)
    rows /= 2;
  return rows;
}

const Var thread("thread"), threadRow("thread_row"), block("block"), rowBlock("row_block"), part("part"),
    rowPart("row_part");

/// Threads along `x`, `width` of them, each as often as it takes, and along `y`.
void onThreads(Stage stage, VarOrRVar x, int width, VarOrRVar y, int height) {
  stage.split(x, part, thread, width, TailStrategy::GuardWithIf)
      .split(y, rowPart, threadRow, height, TailStrategy::GuardWithIf);
  stage.reorder(thread, threadRow, part, rowPart).gpu_threads(thread, threadRow);
}

int widthFor(int64_t extent) { return int(std::min<int64_t>(extent, warp)); }

} // namespace

static void pointwise(const KernelGroup &group, const Target &) {
  Func y = group.output;
  int width = widthFor(group.features), rows = group.fixedRows ? 1 : 256 / warp;
  y.split(axis::feature(), block, thread, width, TailStrategy::GuardWithIf)
      .split(axis::row(), rowBlock, threadRow, rows, TailStrategy::GuardWithIf)
      .reorder(thread, threadRow, block, rowBlock)
      .gpu_blocks(block, rowBlock)
      .gpu_threads(thread, threadRow);
}

/// A thread for each lane of each row; `inner` is what it goes through.
static void onLanes(Stage stage, VarOrRVar lane, int threadRows, std::vector<VarOrRVar> inner = {}) {
  stage.split(axis::row(), rowPart, threadRow, threadRows, TailStrategy::GuardWithIf);
  inner.insert(inner.end(), {lane, threadRow, rowPart});
  stage.reorder(inner).gpu_threads(lane, threadRow);
}

/// A thread for each row.
static void onRows(Func f, int threadRows) {
  f.split(axis::row(), rowPart, threadRow, threadRows, TailStrategy::GuardWithIf).gpu_threads(threadRow);
}

/// Sums and scalars of the rows of a block: each partial sum by a thread of its own, and one thread of a row adds them.
/// Rejected: halving the lanes by threads; the barrier between two halves takes as long as the additions it saves.
static void rowSums(const KernelGroup &group, const Target &target, int rows, int threadRows) {
  Func y = group.output;
  Var lane = axis::lane();
  for (const RowSumStage &sum : group.sums) {
    Func partial = sum.partial, total = sum.sum;
    partial.compute_at(y, rowBlock).store_in(MemoryType::GPUShared).bound(lane, 0, target.rowLanes);
    partial.bound_storage(axis::row(), rows);
    onLanes(partial, lane, threadRows);
    if (sum.whole)
      onLanes(partial.update(0), lane, threadRows, {RVar(partial.rvars(0)[0])});
    if (sum.rest) {
      Stage rest = partial.update(sum.whole ? 1 : 0);
      rest.allow_race_conditions(); // each thread adds to a lane of its own
      onLanes(rest, RVar(partial.rvars(sum.whole ? 1 : 0)[0]), threadRows);
    }
  }
  for (const RowValueStage &value : group.rowValues) {
    Func(value.value).compute_at(y, rowBlock).store_in(MemoryType::GPUShared).bound_storage(axis::row(), rows);
    onRows(value.value, threadRows);
  }
}

/// The output by blocks of rows, and what they keep, in shared memory.
static void rowsOfBlock(const KernelGroup &group, const Target &target, int rows, int threadRows, size_t firstKept) {
  Func y = group.output;
  y.split(axis::row(), rowBlock, axis::row(), rows, TailStrategy::GuardWithIf);
  onThreads(y, axis::feature(), widthFor(group.features), axis::row(), threadRows);
  y.gpu_blocks(rowBlock);
  rowSums(group, target, rows, threadRows);
  for (size_t i = firstKept; i < group.kept.size(); ++i) {
    Func value = group.kept[i].value;
    value.compute_at(y, rowBlock).store_in(MemoryType::GPUShared).bound_storage(axis::row(), rows);
    onThreads(value, axis::feature(), widthFor(group.kept[i].features), axis::row(), threadRows);
  }
}

static int64_t keptBytes(const KernelGroup &group) {
  int64_t bytes = 0;
  for (const KeptStage &kept : group.kept)
    bytes += kept.features * 4;
  return bytes;
}

static void rowReduce(const KernelGroup &group, const Target &target) {
  int rows = group.fixedRows ? 1 : rowsThatFit(keptBytes(group), 4);
  rowsOfBlock(group, target, rows, rows, 0);
}

/// One panel of columns by `rows` rows, computed where `consumer` is at `level`.
static void contractTile(const ContractStage &stage, Func consumer, Var level, int rows, int threadRows) {
  Var lane = axis::lane(), row = axis::row(), panel = axis::panel(), column("column"), tileRow("tile_row"), k("k");
  Func accumulator = stage.accumulator, tile = stage.tile, source = stage.rows, weights = stage.weights;
  int columns = int(std::min<int64_t>(threadColumns, stage.panel)), width = int(stage.panel) / columns;
  int rowsEach = rows / threadRows, depth = int(std::min<int64_t>(stage.depth, 32));
  auto tiled = [&](Stage s) {
    s.split(lane, thread, column, columns).split(row, threadRow, tileRow, rowsEach);
    return s;
  };
  accumulator.compute_at(consumer, level).store_in(MemoryType::GPUShared);
  accumulator.bound(lane, 0, int(stage.panel)).bound_extent(panel, 1).bound_extent(row, rows);
  tiled(accumulator)
      .reorder(column, tileRow, thread, threadRow, panel)
      .unroll(column)
      .unroll(tileRow)
      .gpu_threads(thread, threadRow);
  RVar tiles(accumulator.rvars(0)[0]);
  tiled(accumulator.update())
      .reorder(column, tileRow, thread, threadRow, tiles, panel)
      .unroll(column)
      .unroll(tileRow)
      .gpu_threads(thread, threadRow);

  RVar i(tile.rvars(0)[0]);
  tile.compute_at(accumulator, thread).store_in(MemoryType::Register);
  tile.bound_extent(lane, columns).bound_extent(panel, 1).bound_extent(row, rowsEach);
  tile.reorder(lane, row, panel).unroll(lane).unroll(row);
  tile.update().reorder(lane, row, i, panel).unroll(lane).unroll(row);

  source.compute_at(accumulator, tiles).store_in(MemoryType::GPUShared).bound_extent(row, rows);
  onThreads(source, k, std::min(depth, std::max(width, 8)), row, threadRows);
  weights.compute_at(accumulator, tiles)
      .store_in(MemoryType::GPUShared)
      .bound(lane, 0, int(stage.panel))
      .bound_extent(panel, 1);
  onThreads(weights, lane, width, k, threadRows);
}

static void contract(const KernelGroup &group, const Target &target) {
  const ContractStage &stage = *group.contract;
  Func y = group.output;
  Var feature = axis::feature(), row = axis::row(), column("column"), tileRow("tile_row"), panel = axis::panel();
  int columns = int(std::min<int64_t>(threadColumns, stage.panel));
  if (group.kept.empty()) {
    int rows = group.fixedRows == 1 ? 1 : blockRows, rowsEach = std::min(rows, 4);
    y.split(row, rowBlock, row, rows, TailStrategy::GuardWithIf)
        .split(feature, panel, feature, int(stage.panel), TailStrategy::GuardWithIf)
        .split(feature, thread, column, columns, TailStrategy::GuardWithIf)
        .split(row, threadRow, tileRow, rowsEach, TailStrategy::GuardWithIf)
        .reorder(column, tileRow, thread, threadRow, panel, rowBlock)
        .gpu_blocks(panel, rowBlock)
        .gpu_threads(thread, threadRow);
    contractTile(stage, y, panel, rows, rows / rowsEach);
    return;
  }
  // With a norm, a block keeps whole rows and goes through the panels.
  int rows = group.fixedRows == 1 ? 1 : rowsThatFit(keptBytes(group), 16), threadRows = std::min(rows, 8);
  rowsOfBlock(group, target, rows, threadRows, 1);
  Func value = group.kept.front().value;
  value.compute_at(y, rowBlock).store_in(MemoryType::GPUShared).bound_storage(row, rows);
  value.split(feature, panel, feature, int(stage.panel), TailStrategy::GuardWithIf)
      .split(feature, thread, column, columns, TailStrategy::GuardWithIf)
      .split(row, threadRow, tileRow, rows / threadRows, TailStrategy::GuardWithIf)
      .reorder(column, tileRow, thread, threadRow, panel)
      .gpu_threads(thread, threadRow);
  contractTile(stage, value, panel, rows, threadRows);
}

static void attend(const KernelGroup &group, const Target &target) {
  AttendStage stage = *group.attend;
  Func y = group.output, product = stage.product, gathered = stage.gathered, tile = stage.tile;
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), key = axis::key(), head = axis::head();
  int64_t keys = (stage.mostKeys + warp - 1) / warp * warp;
  // A block takes one head and as many queries as have room for their scores and weights, at most a tile whose limits
  // of keys are one.
  int rows = group.fixedRows == 1 ? 1 : rowsThatFit(2 * keys * 4, int(std::min<int64_t>(stage.queryTile, 8)));
  y.split(feature, head, feature, int(stage.valueWidth)).split(row, rowBlock, row, rows, TailStrategy::GuardWithIf);
  y.split(feature, part, thread, widthFor(stage.valueWidth), TailStrategy::GuardWithIf);
  y.reorder(thread, row, part, head, rowBlock).gpu_blocks(head, rowBlock).gpu_threads(thread, row);
  auto shared = [&](Func f) { return f.compute_at(y, head).store_in(MemoryType::GPUShared); };
  auto sharedRows = [&](Func f) { return shared(f).bound_storage(row, rows); };
  auto acrossKeys = [&](Stage s) { onThreads(s, key, warp, row, rows); };

  sharedRows(stage.queries);
  onThreads(stage.queries, feature, widthFor(stage.keyWidth), row, rows);
  for (Func f : {stage.score, stage.weight}) {
    sharedRows(f).align_bounds(key, int(target.rowLanes)).reorder_storage(key, row, head);
    f.bound_storage(key, int(keys));
    acrossKeys(f);
  }
  // A tile of keys after another; the lanes of a tile are the threads' keys.
  stage.keys.compute_at(stage.score, part).store_in(MemoryType::GPUShared).bound_storage(key, warp);
  onThreads(stage.keys, key, warp, feature, rows);
  RVar i(product.rvars(0)[0]);
  product.compute_at(stage.score, thread).store_in(MemoryType::Register);
  product.update().reorder(i, row, key, head);

  for (auto [lanes, one] : {std::pair(stage.laneMax, stage.largest), std::pair(stage.laneSum, stage.sum)}) {
    Func f = lanes;
    RVar t(f.rvars(0)[0]);
    sharedRows(f).bound(lane, 0, target.rowLanes);
    onLanes(f, lane, rows);
    onLanes(f.update(), lane, rows, {t});
    sharedRows(one);
    onRows(one, rows);
  }

  // Values likewise, a tile after another. A thread sums those of a tile in a register, and the tiles in shared memory,
  // as a contract does.
  RVar tiles(gathered.rvars(0)[0]), t(tile.rvars(0)[0]);
  int width = widthFor(stage.valueWidth);
  sharedRows(gathered).bound(feature, 0, int(stage.valueWidth));
  onThreads(gathered, feature, width, row, rows);
  Stage update = gathered.update();
  onThreads(update, feature, width, row, rows);
  update.reorder(thread, threadRow, part, rowPart, tiles);
  stage.values.compute_at(gathered, tiles).store_in(MemoryType::GPUShared).bound_storage(key, target.depthTile);
  onThreads(stage.values, feature, width, key, std::max(rows, 4));
  tile.compute_at(gathered, thread).store_in(MemoryType::Register);
  tile.update().reorder(t, feature, row, head);
}

static void pool(const KernelGroup &group, const Target &target) {
  pointwise(group, target);
  if (group.pool)
    Func(group.pool->sum).compute_at(Func(group.output), thread).store_in(MemoryType::Register);
}

static void intermediate(const KernelGroup &group, const Target &) {
  Func(group.output).compute_root().bound(axis::feature(), 0, int(group.features));
}

static void stored(const StateWrite &value, const Target &) {
  Func f = value.value;
  f.compute_root().bound(axis::feature(), 0, int(value.features));
  if (!f.has_update_definition()) {
    f.gpu_tile(axis::feature(), block, thread, widthFor(value.features), TailStrategy::GuardWithIf);
    return;
  }
  // Along the rows, one after another, for each feature on its own.
  f.gpu_tile(axis::feature(), axis::row(), block, rowBlock, thread, threadRow, widthFor(value.features), 1,
             TailStrategy::GuardWithIf);
  RVar later(f.rvars(0)[0]);
  f.update()
      .split(axis::feature(), block, thread, widthFor(value.features), TailStrategy::GuardWithIf)
      .reorder(later, thread, block)
      .gpu_blocks(block)
      .gpu_threads(thread);
}

static void stateWrite(const StateWrite &write, const Target &) {
  Func f = write.value;
  int width = widthFor(write.features);
  if (!write.scattered) {
    f.gpu_tile(axis::feature(), block, thread, width, TailStrategy::GuardWithIf);
    return;
  }
  RVar feature(f.update().get_schedule().dims()[0].var), row(f.update().get_schedule().dims()[1].var);
  RVar threadFeature("thread_feature"), featureBlock("feature_block");
  f.update().allow_race_conditions(); // no two rows have a place in common
  f.update()
      .split(feature, featureBlock, threadFeature, width, TailStrategy::GuardWithIf)
      .gpu_blocks(featureBlock, row)
      .gpu_threads(threadFeature);
}

const Schedules &gpuSchedules() {
  static const Schedules schedules{pointwise, rowReduce, contract, attend, pool, intermediate, stored, stateWrite};
  return schedules;
}

} // namespace burin
