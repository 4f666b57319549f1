// How attention is computed: online softmax over tiles of keys, in its associative form (Milakov and Gimelshein 2018,
// arXiv:1805.02867, section 3.1): each tile has a maximum m, a sum s and a partial result of its own, and
// (m, s, p) ⊕ (m', s', p') = (M, s e^(m−M) + s' e^(m'−M), p e^(m−M) + p' e^(m'−M)) with M = max(m, m').
// Tiles are anchored at the sequence's first key, so a row's bits depend on its keys alone.
#include "dialect/encoder.h"
#include "emit/elementary.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void AttentionOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), tile = axis::tile(), head = axis::head();
  Func q = kernel.operand(0), k = kernel.operand(1), v = kernel.operand(2); // [t_q, F], [t_k, F], [t_k, F']
  int heads = int(getHeads()), keyWidth = int(kernel.features(0)) / heads, valueWidth = int(kernel.features(2)) / heads;
  int keyTile = kernel.keyTile(), queryTile = kernel.queryTile(0);
  Expr queries = kernel.rows(0), keys = kernel.rows(1), tiles = (keys + keyTile - 1) / keyTile;
  bool oneQuery = kernel.hasOneRow(0);

  AttendStage stage;
  stage.heads = heads;
  stage.keyWidth = keyWidth;
  stage.valueWidth = valueWidth;
  stage.keyTile = keyTile;
  stage.queryTile = queryTile;
  stage.mostTiles = (kernel.mostRows(1) + keyTile - 1) / keyTile;
  // One query sees every key there is: causal counts from the end.
  stage.causal = getCausal() && !oneQuery;
  stage.keysInLanes = kernel.keysInLanes(1);

  // What query `row` sees of key `key`; `key` may lie beyond the last.
  Expr key = tile * keyTile + lane;
  auto seen = [&](Expr key) {
    Expr is = key < keys;
    if (stage.causal)
      is = is && key <= keys - queries + row;
    if (kernel.hasOperand(3))
      is = is && kernel.operand(3)(min(key, keys - 1), kernel.rowWithin(0, row)) != cast<uint8_t>(0);
    return is;
  };

  // score = scale · q · k, one accumulator per pair, features in order. Scores of keys that are not seen are selected
  // away, so that nothing in them matters, not even NaN.
  const float nothing = -1e30f; // stands for the maximum of no scores; no infinity anywhere
  stage.keys = Func("keys");
  Expr lastKey = stage.keysInLanes ? key : min(key, keys - 1);
  stage.keys(lane, feature, tile, head) = k(head * keyWidth + feature, lastKey);
  RDom i(0, keyWidth, "i");
  stage.product = Func("product");
  stage.product(lane, tile, row, head) = 0.0f;
  stage.product(lane, tile, row, head) +=
      q(head * keyWidth + i, kernel.rowWithin(0, row)) * stage.keys(lane, i, tile, head);
  stage.dots = Func("dots");
  stage.dots(lane, tile, row, head) =
      strict_float(stage.product(lane, tile, row, head) * float(getScale().convertToDouble()));
  stage.score = Func("score");
  stage.score(lane, tile, row, head) = select(seen(key), stage.dots(lane, tile, row, head), nothing);

  // Within a tile: m = max score, weight = e^(score − m), s = Σ weight, p = Σ weight · v in order of keys.
  stage.tileMax = kernel.combineLanes(stage.score, keyTile, true, stage.maxHalves, "tile_max");
  stage.weight = Func("weight");
  stage.weight(lane, tile, row, head) = select(
      seen(key), exponential(strict_float(stage.score(lane, tile, row, head) - stage.tileMax(tile, row, head))), 0.0f);
  stage.tileSum = kernel.combineLanes(stage.weight, keyTile, false, stage.sumHalves, "tile_sum");
  RDom l(0, keyTile, "l");
  Expr valueKey = min(tile * keyTile + l, keys - 1);
  // A schedule may compute some features more, so that sums are whole vectors and keep their order.
  Expr valueFeature = valueWidth % 4 ? min(feature, valueWidth - 1) : Expr(feature);
  Expr value = v(head * valueWidth + valueFeature, valueKey);
  // A weight of 0 takes nothing of a value, but 0 · NaN would: what is not seen is 0 as well.
  if (stage.causal || kernel.hasOperand(3))
    value = select(seen(tile * keyTile + l), value, 0.0f);
  stage.gathered = Func("gathered");
  stage.gathered(feature, tile, row, head) = 0.0f;
  stage.gathered(feature, tile, row, head) += stage.weight(l, tile, row, head) * value;
  stage.part = Func("part");
  stage.part(feature, tile, row, head) = strict_float(stage.gathered(feature, tile, row, head) + 0.0f); // no −0

  // Tiles in order: M = max m, S = Σ s e^(m−M), P = Σ p e^(m−M). A tile without a key that is seen has s = 0. A causal
  // query's tiles end with its last key; rounded up to the query tile, which only adds zeros.
  auto tilesOf = [&](const char *name) {
    RDom t(0, tiles, name);
    if (stage.causal)
      t.where(t * keyTile < keys - queries + (row / queryTile + 1) * queryTile);
    return t;
  };
  RDom tMax = tilesOf("tile_of_max"), tSum = tilesOf("tile_of_sum"), tValue = tilesOf("tile_of_value");
  stage.largest = Func("largest");
  stage.largest(row, head) = nothing;
  stage.largest(row, head) = strict_float(max(stage.largest(row, head), stage.tileMax(tMax, row, head)));
  stage.share = Func("share");
  stage.share(tile, row, head) =
      select(strict_float(stage.tileSum(tile, row, head) != 0.0f),
             exponential(strict_float(stage.tileMax(tile, row, head) - stage.largest(row, head))), 0.0f);
  stage.denominator = Func("denominator");
  stage.denominator(row, head) = 0.0f;
  stage.denominator(row, head) =
      strict_float(stage.denominator(row, head) + stage.share(tSum, row, head) * stage.tileSum(tSum, row, head));
  stage.numerator = Func("numerator");
  stage.numerator(feature, row, head) = 0.0f;
  stage.numerator(feature, row, head) = strict_float(
      stage.numerator(feature, row, head) + stage.share(tValue, row, head) * stage.part(feature, tValue, row, head));

  // y = P / S; 0 where no key is seen. A sum that is not a number is not 0, and shows.
  Func y("attention");
  Expr sum = stage.denominator(row, feature / valueWidth);
  y(feature, row) = select(strict_float(sum != 0.0f),
                           strict_float(stage.numerator(feature % valueWidth, row, feature / valueWidth) / sum), 0.0f);

  kernel.attend(stage);
  kernel.define(y);
}
