// How dense is computed: one accumulator per output, k in order, then the bias. A target whose schedules bring tiles of
// k to the arithmetic sums each tile apart, and the tiles in order.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"
#include <algorithm>
#include <functional>

using namespace burin;
using namespace Halide;

/// Σ_k of `depth` products at a time: tile(t) = Σ_i x(row, t · depth + i) W(t · depth + i, column), then Σ_t tile(t).
static void sumInTiles(ContractStage &stage, Func weight, int depth) {
  Var lane = axis::lane(), panel = axis::panel(), row = axis::row(), k("k"), t("tile");
  int K = int(stage.depth);
  bool whole = K % depth == 0;
  stage.rows = Func("tile_rows");
  stage.weights = Func("tile_weights");
  Expr within = whole ? Expr(k) : min(k, K - 1);
  Expr value = stage.input(within, row), factor = weight(lane, within, panel);
  stage.rows(k, row) = whole ? value : select(k < K, value, 0.0f);
  stage.weights(lane, k, panel) = whole ? factor : select(k < K, factor, 0.0f);

  RDom i(0, depth, "i"), tiles(0, (K + depth - 1) / depth, "tiles");
  stage.tile = Func("depth_tile");
  stage.tile(lane, panel, row, t) = 0.0f;
  stage.tile(lane, panel, row, t) += stage.rows(t * depth + i, row) * stage.weights(lane, t * depth + i, panel);
  stage.accumulator(lane, panel, row) = 0.0f;
  stage.accumulator(lane, panel, row) =
      strict_float(stage.accumulator(lane, panel, row) + stage.tile(lane, panel, row, tiles));
}

/// total(lane, panel, row) = Σ_k x(row, k) W(k, column), column = panel · width + lane, in float32.
static Func floatProduct(KernelBuilder &kernel, ContractStage &stage) {
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), panel = axis::panel();
  Func x = kernel.operand(0);     // [rows, K]
  Func weight = kernel.panels(1); // [N / width][K][width]
  Func input("input"), accumulator("accumulator"), total("total");

  // Not strict: each step becomes one fused multiply-add; with one accumulator per output there is nothing to reorder.
  input(feature, row) = x(feature, kernel.rowWithin(0, row));
  stage.input = input;
  stage.accumulator = accumulator;
  if (int64_t depth = std::min(kernel.depthTile(), stage.depth)) {
    sumInTiles(stage, weight, int(depth));
  } else {
    RDom k(0, int(stage.depth), "k");
    accumulator(lane, panel, row) = 0.0f;
    accumulator(lane, panel, row) += input(k, row) * weight(lane, k, panel);
  }

  // + 0 makes −0 + 0 of a sum whose first step the compiler folded: the same zero on every schedule.
  total(lane, panel, row) = strict_float(accumulator(lane, panel, row) + 0.0f);
  return total;
}

/// The largest of value(k), k < K, over numbers that repeat without harm: partial results in lanes, then one.
static RowExtreme extremeOf(const std::string &name, int64_t K, Expr first, std::function<Expr(Expr)> value,
                            std::function<Expr(Expr, Expr)> better) {
  Var row = axis::row(), lane = axis::lane();
  int lanes = RowExtreme::lanes;
  RDom group(0, int((K + lanes - 1) / lanes), "group"), l(0, lanes, "extreme_lane");
  RowExtreme extreme{Func(name + "_lanes"), Func(name)};
  extreme.partial(lane, row) = first;
  Expr k = group * lanes + lane;
  extreme.partial(lane, row) = better(extreme.partial(lane, row), value(K % lanes ? min(k, int(K) - 1) : k));
  extreme.value(row) = first;
  extreme.value(row) = better(extreme.value(row), extreme.partial(l, row));
  return extreme;
}

/// round(x · inverse) + 1.5 · 2^23 as a float's bits: the integer stands in the lowest of them, rounded to nearest,
/// ties to even. The same two operations, each rounded once, on every target.
static Expr roundedBits(Expr x, Expr inverse) {
  return reinterpret<int32_t>(strict_float(strict_float(x * inverse) + 0x1.8p23f));
}

/// Rows in integers, by the rule of dialect/int8.h. Floats are compared as integers: they are ordered alike, a NaN
/// is above all, and no order of comparisons changes a bit.
static QuantisedRows quantise(Func input, int64_t K, int64_t depth, const IntegerDot &dot) {
  Var feature = axis::feature(), row = axis::row();
  QuantisedRows rows;
  rows.depth = depth;
  auto larger = [](Expr a, Expr b) { return max(a, b); };
  auto bits = [&](Expr x) { return reinterpret<int32_t>(x); };
  auto magnitude = [&](Expr k) { return bits(input(k, row)) & 0x7FFFFFFF; };
  rows.largest = extremeOf("largest", K, 0, magnitude, larger);
  rows.outlier = extremeOf(
      "outlier", K, int(K) - 1, [&](Expr k) { return select(magnitude(k) == rows.largest.value(row), k, int(K) - 1); },
      [](Expr a, Expr b) { return min(a, b); });
  auto rest = [&](Expr k) { return select(k == rows.outlier.value(row), 0.0f, input(k, row)); };
  rows.highest = extremeOf(
      "highest", K, 0, [&](Expr k) { return bits(rest(k)); }, larger);
  rows.lowest = extremeOf(
      "lowest", K, 0, [&](Expr k) { return bits(rest(k)) ^ Expr(int32_t(0x80000000)); }, larger);

  Expr low = reinterpret<float>(rows.lowest.value(row));
  rows.range = Func("row_range");
  rows.range(row) = strict_float(reinterpret<float>(rows.highest.value(row)) + low);
  Expr range = rows.range(row), isZero = bits(range) < bits(Expr(0x1p-100f)); // the inverse would leave float32
  rows.scale = Func("row_scale");
  rows.inverse = Func("row_inverse");
  rows.bottom = Func("row_bottom");
  rows.offset = Func("row_offset");
  rows.scale(row) = select(isZero, 0.0f, strict_float(range * (1.0f / 254.0f)));
  rows.inverse(row) = select(isZero, 0.0f, strict_float(254.0f / range));
  rows.bottom(row) = roundedBits(-low, rows.inverse(row));
  rows.offset(row) = cast<float>(rows.bottom(row) - bits(Expr(0x1.8p23f)) + 128);

  Expr aboveBottom =
      roundedBits(rest(depth == K ? Expr(feature) : min(feature, int(K) - 1)), rows.inverse(row)) - rows.bottom(row);
  rows.values = Func("quantised");
  rows.values(feature, row) =
      dot.unsignedRows ? cast(UInt(8), aboveBottom) : cast(dot.terms == 2 ? Int(16) : Int(8), aboveBottom - 128);
  return rows;
}

/// The same of int8 weights and quantised rows: sums of integers, which no order changes, a group of k at a time.
static Func integerProduct(KernelBuilder &kernel, ContractStage &stage) {
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), panel = axis::panel(), group("k_group");
  const IntegerDot &dot = kernel.integerDot();
  PackedPanels packed = kernel.packedPanels(1);
  Func x = kernel.operand(0);         // [rows, K]
  Func weight = kernel.termPanels(1); // (term, lane, k / terms, panel)
  Func input("input"), accumulator("accumulator"), groups("groups"), total("total");

  input(feature, row) = x(feature, kernel.rowWithin(0, row));
  QuantisedRows rows = quantise(input, stage.depth, packed.depth(), dot);

  // Σ (q + 128) w = Σ q w + 128 Σ w: the correction, −128 Σ w, is where the sum begins.
  Expr column = panel * int(stage.panel) + lane;
  int steps = int(packed.groups.size) / dot.terms;
  RDom k(0, dot.terms, 0, steps, "k"), g(0, int(packed.groups.count), "g");
  Expr step = group * steps + k.y;
  accumulator(lane, panel, row, group) = dot.unsignedRows ? kernel.groupCorrection(1, group, column) : Expr(0);
  accumulator(lane, panel, row, group) +=
      cast<int32_t>(rows.values(step * dot.terms + k.x, row)) * cast<int32_t>(weight(k.x, lane, step, panel));
  groups(lane, panel, row) = 0.0f;
  groups(lane, panel, row) =
      strict_float(groups(lane, panel, row) +
                   strict_float(cast<float>(accumulator(lane, panel, row, g)) * kernel.groupScale(1, g, column)));

  // Integers count from −128, so that the lowest value of a row is the lowest of them: Σ x w = scale · Σ (q + offset)
  // w.
  Expr outlier = clamp(rows.outlier.value(row), 0, int(stage.depth) - 1); // which Halide cannot see to hold
  Expr exact = strict_float(strict_float(cast<float>(weight(outlier % dot.terms, lane, outlier / dot.terms, panel)) *
                                         kernel.groupScale(1, outlier / int(packed.groups.size), column)) *
                            input(outlier, row));
  Expr others = strict_float(
      strict_float(groups(lane, panel, row) + strict_float(rows.offset(row) * kernel.columnSum(1, column))) *
      rows.scale(row));
  total(lane, panel, row) = strict_float(others + exact);
  stage.input = input;
  stage.accumulator = accumulator;
  stage.groups = groups;
  stage.quantised = rows;
  return total;
}

/// Bits of the nearest bfloat16, ties to even; a NaN stays one (runtime/quantise.h).
static Expr bfloatBits(Expr value) {
  Expr bits = reinterpret<uint32_t>(value);
  Expr rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return cast<uint16_t>(select((bits & 0x7FFFFFFF) > 0x7F800000, (bits >> 16) | 0x40, rounded));
}

/// total(lane, panel, row) of rows and weights in bfloat16, two products at a time.
static Func pairProduct(KernelBuilder &kernel, ContractStage &stage) {
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), panel = axis::panel();
  constexpr int terms = PackedPanels::bfloatTerms;
  Func x = kernel.operand(0);         // [rows, K]
  Func weight = kernel.termPanels(1); // (term, lane, k / terms, panel)
  Func input("input"), accumulator("accumulator"), total("total");
  input(feature, row) = x(feature, kernel.rowWithin(0, row));
  QuantisedRows rows;
  rows.depth = kernel.packedPanels(1).depth();
  rows.values = Func("rounded");
  int K = int(stage.depth);
  bool whole = rows.depth == K;
  Expr value = input(whole ? Expr(feature) : min(feature, K - 1), row);
  rows.values(feature, row) = reinterpret(BFloat(16), bfloatBits(whole ? value : select(feature < K, value, 0.0f)));

  RDom k(0, terms, 0, int(rows.depth) / terms, "k");
  accumulator(lane, panel, row) = 0.0f;
  accumulator(lane, panel, row) += cast<float>(rows.values(k.y * terms + k.x, row)) *
                                   cast<float>(reinterpret(BFloat(16), weight(k.x, lane, k.y, panel)));
  total(lane, panel, row) = strict_float(accumulator(lane, panel, row) + 0.0f);
  stage.input = input;
  stage.accumulator = accumulator;
  stage.quantised = rows;
  return total;
}

void DenseOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  ContractStage stage;
  stage.depth = kernel.features(0);
  stage.features = featuresOf(getY().getType());
  stage.panel = kernel.panelWidth(1);
  switch (precisionOf(*this)) {
  case Precision::Float32:
  case Precision::BFloat16:
    stage.total = floatProduct(kernel, stage);
    break;
  case Precision::BFloat16Dot:
    stage.total = pairProduct(kernel, stage);
    break;
  case Precision::Int8:
    stage.total = integerProduct(kernel, stage);
    break;
  }

  Func y("dense");
  Expr sum = stage.total(feature % int(stage.panel), feature / int(stage.panel), row);
  y(feature, row) = kernel.hasOperand(2) ? strict_float(sum + kernel.operand(2)(feature)) : sum;
  kernel.contract(stage);
  kernel.define(y);
}
