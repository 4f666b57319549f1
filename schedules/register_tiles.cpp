// Schedules of register tiles. What made the difference when it was tried: accumulators are Funcs of their own, stored
// in registers; the unit of fusion for a norm is a block of about a hundred rows, with panels outside and row tiles
// inside, so that weights are read once a block and not once a tile.
#include "schedules/register_tiles.h"
#include <algorithm>
#include <tuple>

using namespace Halide;

namespace burin::register_tiles {

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

/// The largest divisor of `whole` that is no more than `value`.
static int divisorUpTo(int64_t whole, int value) {
  value = int(std::clamp<int64_t>(value, 1, std::max<int64_t>(whole, 1)));
  while (whole % value)
    --value;
  return value;
}

/// Vectors of a row, some of which may stand in the loop.
static void vectorsOfRow(const KernelGroup &group, Func f, int64_t features, const Target &target) {
  vectorise(f, axis::feature(), features, target);
  int width = vectorWidth(features, target);
  int64_t vectors = (features + width - 1) / width;
  int together = group.parameter(Parameter::row_vectors, 1, [&](int value) { return divisorUpTo(vectors, value); });
  if (together > 1)
    f.unroll(axis::feature(), together);
}

void pointwise(const KernelGroup &group, const Target &target) {
  vectorsOfRow(group, group.output, group.features, target);
}

void rowReduce(const KernelGroup &group, const Target &target) {
  pointwise(group, target);
  rowSums(group, target);
  for (KeptStage kept : group.kept) {
    kept.value.compute_at(Func(group.output), axis::row()).store_in(MemoryType::Heap);
    vectorsOfRow(group, kept.value, kept.features, target);
  }
}

static void extreme(const RowExtreme &extreme, const Target &target) {
  Func partial = extreme.partial, value = extreme.value;
  Var lane = axis::lane();
  partial.compute_at(value, axis::row()).store_in(MemoryType::Register).bound(lane, 0, RowExtreme::lanes);
  partial.update().reorder(lane, RVar(partial.rvars(0)[0]));
  for (Stage part : {Stage(partial), partial.update()})
    inRegisters(part, lane, RowExtreme::lanes, target);
  value.update().atomic().vectorize(RVar(value.rvars(0)[0]));
}

/// Rows in fewer bits, those that are needed at `place`, at most `most`: a row stays in L1 for what is found in it.
static void quantiseRows(const QuantisedRows &rows, LoopLevel place, int most, const Target &target) {
  auto store = [&](Func f) {
    f.compute_at(place).store_in(most > 1 ? MemoryType::Heap : MemoryType::Stack).bound_storage(axis::row(), most);
  };
  if (rows.scale.defined()) {
    for (const RowExtreme &found : {rows.largest, rows.outlier, rows.highest, rows.lowest})
      extreme(found, target);
    Func(rows.largest.value).compute_at(rows.outlier.value, axis::row()).store_in(MemoryType::Register);
    Func(rows.highest.value).compute_at(rows.range, axis::row()).store_in(MemoryType::Register);
    for (Func f :
         {rows.outlier.value, rows.lowest.value, rows.range, rows.scale, rows.inverse, rows.bottom, rows.offset})
      store(f);
  }
  store(rows.values);
  Func values = rows.values;
  values.bound(axis::feature(), 0, int(rows.depth));
  vectorise(values, axis::feature(), rows.depth, target);
}

/// The sums of a tile, `inner` at each step of the reduction, in registers along `unrolled`.
static void sumInRegisters(const ContractStage &stage, std::vector<VarOrRVar> inner, Var unrolled, Var outer,
                           const Target &target) {
  Func accumulator = stage.accumulator, groups = stage.groups;
  std::vector<RVar> terms = accumulator.rvars(0);
  std::vector<VarOrRVar> order = inner;
  order.push_back(terms.back());
  order.push_back(outer);
  if (stage.quantised) // the terms of an instruction innermost
    order.insert(order.begin(), terms.front());
  if (groups.defined()) { // one after another
    RVar group(groups.rvars(0)[0]);
    inner.push_back(group);
    inner.push_back(outer);
    groups.update().reorder(inner).unroll(unrolled);
    inRegisters(groups.update(), axis::lane(), stage.panel, target);
    accumulator.compute_at(groups, group);
  }
  accumulator.update().reorder(order).unroll(unrolled);
  if (stage.quantised)
    accumulator.update().atomic().vectorize(terms.front());
  inRegisters(accumulator.update(), axis::lane(), stage.panel, target);
}

/// What a tile of a contract is computed through, to the last.
static std::vector<Func> partsOf(const ContractStage &stage) {
  std::vector<Func> parts{stage.total, stage.accumulator};
  if (stage.groups.defined())
    parts.push_back(stage.groups);
  return parts;
}

/// A contract over one row: several panels at once, so that enough sums are under way to hide their latency.
static void contractOneRow(const KernelGroup &group, Func consumer, int64_t features, const Target &target) {
  const ContractStage &stage = *group.contract;
  Var lane = axis::lane(), panel = axis::panel(), row = axis::row(), columnGroup("group"), within("within");
  int64_t panels = (stage.features + stage.panel - 1) / stage.panel;
  int64_t vectors = std::max<int64_t>(stage.panel / target.lanes, 1), together = 1;
  int sums = group.parameter(Parameter::sum_registers, target.registers / 2); // derived: half of the registers
  for (int64_t n = 1; n <= panels; ++n)
    if (panels % n == 0 && n * vectors <= sums)
      together = n;
  int columns = int(together * stage.panel);
  consumer
      .split(axis::feature(), columnGroup, within, columns,
             features % columns ? TailStrategy::GuardWithIf : TailStrategy::Auto)
      .reorder(within, row, columnGroup);
  vectorise(consumer, within, stage.panel, target);
  if (stage.quantised)
    quantiseRows(*stage.quantised, LoopLevel::root(), 1, target);
  for (Func f : partsOf(stage)) {
    f.compute_at(consumer, columnGroup).store_in(MemoryType::Stack);
    f.bound(lane, 0, int(stage.panel)).bound_extent(panel, int(together));
    f.reorder(lane, panel, row).unroll(panel);
    inRegisters(f, lane, stage.panel, target);
  }
  Func(stage.accumulator).store_in(MemoryType::Register);
  sumInRegisters(stage, {lane, panel}, panel, row, target);
}

int vectorsOfPanel(const ContractStage &stage, const Target &target) {
  return int(std::max<int64_t>(stage.panel / target.lanes, 1));
}

void contract(const KernelGroup &group, const Target &target, int tileRows) {
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

  if (group.fixedRows == 1) {
    if (kept) {
      consumer.compute_at(y, row).store_in(MemoryType::Stack).bound(feature, 0, int(features));
      vectorise(y, feature, group.features, target);
    }
    contractOneRow(group, consumer, features, target);
    return;
  }

  tileRows = std::min(tileRows, 12); // derived: with more, loads no longer limit
  tileRows -= tileRows > 1 ? tileRows % 2 : 0;
  if (group.mostRows())
    tileRows = std::min(tileRows, int(group.mostRows()));
  // No row twice in a tile, where the compiler would see it: it would compute their product once, and a product that is
  // used twice is not fused with its additions: other bits.
  tileRows = group.parameter(Parameter::tile_rows, tileRows, [&](int rows) {
    int64_t most = group.fixedRows ? group.fixedRows : group.mostRows();
    return most ? std::min(rows, int(most)) : rows;
  });
  // Without a norm floats need no block unless a record says so: a panel is read once for all rows, and the rows stream
  // by.
  bool blocked = kept || stage.quantised;
  int block = group.parameter(Parameter::block_rows, blocked ? blockRows : 0, [&](int rows) {
    rows = blocked && rows == 0 ? blockRows : rows;
    return rows ? std::max(rows / tileRows, 1) * tileRows : 0;
  });

  Var rowBlock("row_block"), rowTile("row_tile"), tileRow("tile_row"), column("column");
  if (kept) {
    y.split(row, rowBlock, row, block, TailStrategy::GuardWithIf);
    vectorise(y, feature, group.features, target);
    consumer.compute_at(y, rowBlock).store_in(MemoryType::Heap).bound(feature, 0, int(features));
    consumer.split(row, rowTile, tileRow, tileRows, TailStrategy::GuardWithIf);
  } else {
    y.split(row, rowTile, tileRow, tileRows, TailStrategy::GuardWithIf);
    if (block) // of tiles, so that none begins beyond the last row
      y.split(rowTile, rowBlock, rowTile, block / tileRows, TailStrategy::GuardWithIf);
  }
  if (stage.quantised)
    quantiseRows(*stage.quantised, LoopLevel(y, rowBlock), block, target);
  consumer
      .split(feature, panel, column, int(stage.panel),
             features % stage.panel ? TailStrategy::GuardWithIf : TailStrategy::Auto)
      .reorder(column, tileRow, rowTile, panel);
  vectorise(consumer, column, stage.panel, target);

  for (Func f : partsOf(stage)) {
    f.compute_at(consumer, rowTile).store_in(MemoryType::Stack);
    f.bound(lane, 0, int(stage.panel)).bound_extent(panel, 1).bound_extent(row, tileRows);
    f.reorder(lane, row, panel).unroll(row);
    inRegisters(f, lane, stage.panel, target);
  }
  Func(stage.accumulator).store_in(MemoryType::Register);
  sumInRegisters(stage, {lane, row}, row, panel, target);
}

void unrollDepth(const KernelGroup &group, const Target &target) {
  // Where a product is not fused with its addition, sums of several terms in a row are taken up in another order by the
  // compiler: other bits.
  if (!target.fused)
    return;
  const ContractStage &stage = *group.contract;
  if (stage.quantised) // an instruction takes several terms as it is
    return;
  int terms = group.parameter(Parameter::depth_unroll, 1, [&](int value) {
    int64_t divisor = divisorUpTo(stage.depth, value);
    return divisor < stage.depth ? int(divisor) : 1; // without a loop the compiler adds up in another order: other bits
  });
  Func accumulator = stage.accumulator;
  if (terms > 1)
    accumulator.update().unroll(RVar(accumulator.rvars(0)[0]), terms);
}

/// Where what attention stores lies. Few keys: in a fixed place on the stack, which costs nothing to allocate. Derived:
/// scores and weights of `rows` queries stay within half of L1 together.
static MemoryType placeOfScores(const AttendStage &stage, int64_t rows, std::initializer_list<Func> perKey) {
  int64_t keys = (stage.mostKeys + 31) / 32 * 32;
  if (keys * rows * 4 > 8 * 1024)
    return MemoryType::Heap;
  for (Func f : perKey)
    f.bound_storage(axis::key(), int(keys));
  return MemoryType::Stack;
}

/// Features whose sums over the keys are made together: so many vectors' worth where that divides the width.
static int64_t featuresTogether(int64_t width, int vectors, const Target &target) {
  if (width <= vectors * target.lanes || width % target.lanes)
    return width;
  int64_t together = vectors * target.lanes;
  while (width % together)
    together -= target.lanes;
  return together;
}

/// One query: keys lie across lanes, as a cache of them does, and several heads are under way at once.
static void attendOneRow(const KernelGroup &group, const Target &target) {
  AttendStage stage = *group.attend;
  Func y = group.output, product = stage.product, gathered = stage.gathered;
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), key = axis::key(), head = axis::head();
  Var within("within"), keyTile("key_tile"), keyLane("key_lane"), heads("heads"), headWithin("head_within");
  int64_t width = (stage.valueWidth + 3) / 4 * 4, keys = target.keyTile;
  // Derived: as many heads as leave half of the registers; a tile of keys is the widest of what they sum.
  int together = 1, sums = group.parameter(Parameter::sum_registers, target.registers / 2);
  for (int n = 1; n <= stage.heads; ++n)
    if (stage.heads % n == 0 && n * std::max(keys, width) <= sums * target.lanes)
      together = n;

  y.split(feature, head, within, int(stage.valueWidth)).reorder(within, head, row);
  vectorise(y, within, stage.valueWidth, target);
  MemoryType place = placeOfScores(stage, stage.heads, {stage.score, stage.weight});
  auto stored = [&](Func f) { return f.compute_at(y, row).store_in(place); };
  if (!stage.keysInLanes) {
    stage.keys.compute_at(y, row).store_in(MemoryType::Heap).align_bounds(key, int(keys)).reorder(key, feature, head);
    vectorise(stage.keys, key, keys, target);
  }

  stored(stage.score).align_bounds(key, int(keys)).split(key, keyTile, keyLane, int(keys));
  stage.score.split(head, heads, headWithin, together);
  stage.score.reorder(keyLane, headWithin, row, heads, keyTile).unroll(headWithin);
  inRegisters(stage.score, keyLane, keys, target);
  RVar i(product.rvars(0)[0]);
  product.compute_at(stage.score, heads).store_in(MemoryType::Register).bound_extent(key, int(keys));
  product.bound_extent(head, together).reorder(key, head, row).unroll(head);
  inRegisters(product, key, keys, target);
  product.update().reorder(key, head, i, row).unroll(head);
  inRegisters(product.update(), key, keys, target);

  stored(stage.weight).align_bounds(key, target.rowLanes).reorder(key, row, head);
  vectorise(stage.weight, key, target.rowLanes, target);
  for (auto [lanes, halves, one] : {std::tuple(stage.laneMax, &stage.maxHalves, stage.largest),
                                    std::tuple(stage.laneSum, &stage.sumHalves, stage.sum)}) {
    one.compute_at(y, row).store_in(MemoryType::Stack).bound_extent(head, int(stage.heads));
    Func f = lanes;
    RVar t(f.rvars(0)[0]);
    f.compute_at(one, head).store_in(MemoryType::Register).bound(lane, 0, target.rowLanes);
    inRegisters(f, lane, target.rowLanes, target);
    f.update().reorder(lane, t);
    inRegisters(f.update(), lane, target.rowLanes, target);
    int64_t count = target.rowLanes / 2;
    for (Func half : *halves) {
      half.compute_at(one, head).store_in(MemoryType::Register);
      inRegisters(half, lane, count, target);
      count /= 2;
    }
  }

  Func part = stage.part;
  part.compute_at(y, row)
      .store_in(MemoryType::Stack)
      .bound(feature, 0, int(width))
      .bound_extent(head, int(stage.heads));
  part.split(head, heads, headWithin, together).reorder(feature, headWithin, row, heads).unroll(headWithin);
  inRegisters(part, feature, width, target);
  gathered.compute_at(part, heads).store_in(MemoryType::Register).bound_extent(head, together);
  gathered.align_storage(feature, target.lanes); // as below
  gathered.reorder(feature, head, row).unroll(head);
  inRegisters(gathered, feature, width, target);
  for (int n = 0; n < gathered.num_update_definitions(); ++n) {
    RVar s(gathered.rvars(n)[0]);
    gathered.update(n).reorder(feature, head, s, row).unroll(head);
    inRegisters(gathered.update(n), feature, width, target);
  }
}

/// Many queries: they lie across lanes, so that maxima and sums over keys are vectors and keys are read as they come.
/// What made the difference when it was tried: with keys across lanes, every query needs maxima and sums across a
/// vector for every tile of keys, which took longer than the products.
void attend(const KernelGroup &group, const Target &target, AttendTiles tiles) {
  AttendStage stage = *group.attend;
  if (group.fixedRows == 1)
    return attendOneRow(group, target);
  Func y = group.output, product = stage.product, gathered = stage.gathered;
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), key = axis::key(), head = axis::head();
  Var within("within"), queries("queries"), query("query"), keyBlock("key_block"), keyWithin("key_within");
  int64_t rows = stage.queryTile, width = (stage.valueWidth + 3) / 4 * 4;
  auto dividing = [&](int value) { return divisorUpTo(stage.queryTile, value); };
  // Few queries: a tile of several keys would compute products of keys that are not there. One key at a time, those are
  // left out, and a processor looks far enough ahead to have several of the others under way; so it does with values,
  // one query at a time, where keys are as few. Measured: half as long again with the tiles of many queries.
  bool few = group.mostRows() > 0;
  if (few)
    tiles = {.keys = 1, .queries = stage.keysOfRows ? 1 : std::min(tiles.queries, int(group.mostRows()))};
  int keysTogether = group.parameter(Parameter::tile_keys, tiles.keys, dividing);
  int rowsTogether = group.parameter(Parameter::tile_queries, tiles.queries, dividing);
  bool onlyQueries = group.parameter(Parameter::only_queries, few) > 0;
  int64_t together = featuresTogether(width, group.parameter(Parameter::value_vectors, 2), target);

  y.split(feature, head, within, int(stage.valueWidth))
      .split(row, queries, query, int(rows), TailStrategy::GuardWithIf)
      .reorder(within, query, queries, head);
  // Not a copy of all that follows for each of the tiles before the first whole one, the whole ones and the last.
  y.partition(queries, Partition::Never);
  vectorise(y, within, stage.valueWidth, target);
  MemoryType place = placeOfScores(stage, rows, {stage.score, stage.weight});
  auto perTile = [&](Func f) { return f.compute_at(y, queries).bound_extent(row, int(rows)); };
  auto acrossRows = [&](Stage s) { inRegisters(s, row, rows, target); };

  // Transposed a row at a time, a load and a store for each feature: of a vector of rows the compiler would find every
  // address in a vector, and take it out of there again. Measured: 2 % of attention, 10 % where queries are few.
  perTile(stage.queries).store_in(MemoryType::Stack).bound_extent(feature, int(stage.keyWidth));
  stage.queries.reorder_storage(row, feature, head).reorder(feature, row).unroll(feature);
  // Read for every tile of queries: once in the order in which they are needed. And where their number is fixed, so
  // that no key is seen to be in a register tile twice (contract says why).
  if (stage.keysInLanes || stage.fixedKeys) {
    stage.keys.compute_at(y, head).store_in(MemoryType::Heap).align_bounds(key, target.rowLanes);
    stage.keys.reorder(key, feature, head).reorder_storage(feature, key, head);
  }

  perTile(stage.score).store_in(place).align_bounds(key, target.rowLanes);
  stage.score.split(key, keyBlock, keyWithin, keysTogether).reorder(row, keyWithin, keyBlock).unroll(keyWithin);
  acrossRows(stage.score);
  RVar i(product.rvars(0)[0]);
  product.compute_at(stage.score, keyBlock).store_in(MemoryType::Register).bound_extent(row, int(rows));
  product.bound_extent(key, keysTogether).reorder(row, key).unroll(key);
  acrossRows(product);
  product.update().reorder(row, key, i).unroll(key);
  acrossRows(product.update());

  // Derived: four vectors of exponentials side by side cover the latency of their chains; more is only code.
  int vectorsOfRows = int((rows + target.lanes - 1) / target.lanes);
  perTile(stage.weight).store_in(place).align_bounds(key, target.rowLanes).reorder(row, key);
  stage.weight.unroll(key, std::max(4 / vectorsOfRows, 1));
  acrossRows(stage.weight);
  for (auto [lanes, halves, one] : {std::tuple(stage.laneMax, &stage.maxHalves, stage.largest),
                                    std::tuple(stage.laneSum, &stage.sumHalves, stage.sum)}) {
    perTile(one).store_in(MemoryType::Stack);
    vectorise(one, row, rows, target);
    Func f = lanes;
    RVar t(f.rvars(0)[0]);
    f.compute_at(one, row).store_in(MemoryType::Register).bound(lane, 0, target.rowLanes);
    f.reorder_storage(row, lane, head).reorder(row, lane).unroll(lane);
    vectorise(f, row, target.lanes, target);
    f.update().reorder(row, lane, t).unroll(lane);
    vectorise(f.update(), row, target.lanes, target);
    for (Func half : *halves) {
      half.compute_at(one, row).store_in(MemoryType::Register).reorder_storage(row, lane, head);
      half.reorder(row, lane).unroll(lane);
      vectorise(half, row, target.lanes, target);
    }
  }

  Var features("features"), rowTile("row_tile"), tileRow("tile_row");
  Func part = stage.part;
  part.compute_at(y, queries).store_in(MemoryType::Stack).bound(feature, 0, int(width));
  if (onlyQueries) // in whole register tiles. Measured: where all queries are there, a loop without an end is faster
    part.bound_storage(row, int(rows));
  else
    part.bound_extent(row, int(rows));
  part.split(feature, features, within, int(together));
  part.split(row, rowTile, tileRow, rowsTogether, TailStrategy::RoundUp); // never to rows before a tile's first
  part.reorder(within, tileRow, features, rowTile).unroll(tileRow);
  inRegisters(part, within, together, target);
  gathered.compute_at(part, features).store_in(MemoryType::Register);
  // Rows narrower than a vector apart from one another: side by side the compiler makes one register of several, and
  // adds to a part of it, which it does not fuse with the product.
  gathered.align_storage(feature, target.lanes);
  gathered.bound_extent(feature, int(together)).bound_extent(row, rowsTogether).reorder(feature, row).unroll(row);
  inRegisters(gathered, feature, together, target);
  for (int n = 0; n < gathered.num_update_definitions(); ++n) {
    RVar s(gathered.rvars(n)[0]);
    if (n == stage.updateOfTile)
      gathered.update(n).reorder(feature, row, s).unroll(row);
    else // row by row, each through its own keys
      gathered.update(n).reorder(feature, s, row).unroll(row);
    inRegisters(gathered.update(n), feature, together, target);
  }
}

void pool(const KernelGroup &group, const Target &target) {
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

void intermediate(const KernelGroup &group, const Target &) {
  Func(group.output).compute_root().store_in(MemoryType::Stack).bound(axis::feature(), 0, int(group.features));
}

void stored(const StateWrite &value, const Target &target) {
  Func f = value.value;
  bool alongRows = f.has_update_definition();
  f.compute_root().store_in(alongRows ? MemoryType::Heap : MemoryType::Stack);
  f.bound(axis::feature(), 0, int(value.features));
  vectorise(f, axis::feature(), value.features, target);
  if (alongRows)
    vectorise(f.update(), axis::feature(), value.features, target);
}

void stateWrite(const StateWrite &write, const Target &target) {
  Func f = write.value;
  if (!write.scattered)
    return vectorise(f, axis::feature(), write.features, target);
  RVar feature(f.update().get_schedule().dims()[0].var);
  f.update().allow_race_conditions(); // no two rows have a place in common
  vectorise(f.update(), feature, write.features, target);
}

llvm::ArrayRef<int64_t> fewRows(KernelClass kernelClass) {
  static const int64_t ofContracts[] = {1, 4}, ofAttention[] = {4};
  if (kernelClass == KernelClass::Contract)
    return ofContracts;
  return kernelClass == KernelClass::Attend ? llvm::ArrayRef(ofAttention) : llvm::ArrayRef<int64_t>();
}

} // namespace burin::register_tiles
