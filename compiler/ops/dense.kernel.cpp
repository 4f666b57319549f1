// How dense is computed: one accumulator per output, k in order, then the bias. A target whose schedules bring tiles of
// k to the arithmetic sums each tile apart, and the tiles in order.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"
#include <algorithm>

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

void DenseOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), panel = axis::panel();
  int64_t K = kernel.features(0), N = featuresOf(getY().getType()), width = kernel.panelWidth(1);
  Func x = kernel.operand(0);     // [rows, K]
  Func weight = kernel.panels(1); // [N / width][K][width]
  Func input("input"), accumulator("accumulator"), total("total"), y("dense");
  ContractStage stage{
      .input = input, .accumulator = accumulator, .total = total, .depth = K, .features = N, .panel = width};

  // accumulator = Σ_k x(row, k) W(k, column), column = panel · width + lane. Not strict: each step becomes one fused
  // multiply-add; with one accumulator per output there is nothing to reorder.
  input(feature, row) = x(feature, kernel.rowWithin(0, row));
  if (int64_t depth = std::min(kernel.depthTile(), K)) {
    sumInTiles(stage, weight, int(depth));
  } else {
    RDom k(0, int(K), "k");
    accumulator(lane, panel, row) = 0.0f;
    accumulator(lane, panel, row) += input(k, row) * weight(lane, k, panel);
  }

  // + 0 makes −0 + 0 of a sum whose first step the compiler folded: the same zero on every schedule.
  total(lane, panel, row) = strict_float(accumulator(lane, panel, row) + 0.0f);

  Expr sum = total(feature % int(width), feature / int(width), row);
  y(feature, row) = kernel.hasOperand(2) ? strict_float(sum + kernel.operand(2)(feature)) : sum;

  kernel.contract(stage);
  kernel.define(y);
}
