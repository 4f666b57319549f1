// How attention is computed: a query's scores, their maximum, weights e^(score − maximum), the sum of the weights, and
// the sum of weighted values (Vaswani et al. 2017, arXiv:1706.03762, equation 1), for a tile of queries at a time.
//
// Numeric form: products and weighted values in order, one accumulator each; the sum of weights in lanes of keys that
// are anchored at the first key, combined as row sums are. A key that is not seen adds zeros, so a row's bits depend on
// the keys that it sees and on nothing beside it. Where a target sums products apart in tiles (depthTile), it sums
// weighted values so, in tiles of keys from the first key on.
#include "dialect/encoder.h"
#include "emit/elementary.h"
#include "emit/kernel_builder.h"
#include <algorithm>

using namespace burin;
using namespace Halide;

void AttentionOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), head = axis::head(), key = axis::key();
  Func q = kernel.operand(0), k = kernel.operand(1), v = kernel.operand(2); // [t_q, F], [t_k, F], [t_k, F']
  int heads = int(getHeads()), keyWidth = int(kernel.features(0)) / heads, valueWidth = int(kernel.features(2)) / heads;
  int lanes = kernel.rowLanes(), queryTile = kernel.queryTile(0);
  Expr queries = kernel.rows(0), keys = kernel.rows(1);
  bool hasMask = kernel.hasOperand(3), hasWindow = bool(getWindow());
  bool oneQuery = kernel.hasOneRow(0), causal = getCausal() && !oneQuery; // one query sees every key there is
  int window = int(std::min<int64_t>(getWindow().value_or(0), 1 << 30));  // no sequence is longer

  AttendStage stage;
  stage.heads = heads;
  stage.keyWidth = keyWidth;
  stage.valueWidth = valueWidth;
  stage.queryTile = queryTile;
  stage.mostKeys = kernel.mostRows(1);
  stage.fixedKeys = Halide::Internal::is_const(keys);
  stage.keysOfRows = Halide::Internal::equal(keys, queries);
  stage.keysInLanes = kernel.keysInLanes(1);

  // What query `row` sees of key `key`; either may lie beyond the last.
  Expr at = keys - queries; // where query 0 is
  Expr ownRow = oneQuery ? Expr(0) : min(row, queries - 1);
  auto seen = [&](Expr key) {
    Expr is = key < keys;
    if (causal)
      is = is && key <= at + row;
    if (hasWindow)
      is = is && key > at + row - window;
    if (hasMask)
      is = is && kernel.operand(3)(min(key, keys - 1), ownRow) != cast<uint8_t>(0);
    return is;
  };
  // The keys that some query of a tile sees, [begin, end), and those that all of them see, [all, allEnd).
  Expr first = at + row / queryTile * queryTile;
  Expr begin = hasWindow ? clamp(first - window + 1, 0, keys) : Expr(0);
  Expr end = causal ? clamp(first + queryTile, begin, keys) : keys;
  Expr all = hasWindow ? clamp(first + queryTile - window, begin, end) : begin;
  Expr allEnd = causal ? clamp(first + 1, all, end) : end;

  // score = scale · q · k. Scores of keys that are not seen are selected away, so that nothing in them matters, not
  // even NaN.
  const float nothing = -1e30f; // stands for the maximum of no scores; no infinity anywhere
  stage.queries = Func("queries");
  stage.queries(row, feature, head) = q(head * keyWidth + feature, ownRow);
  stage.keys = Func("keys");
  stage.keys(key, feature, head) = k(head * keyWidth + feature, stage.keysInLanes ? Expr(key) : min(key, keys - 1));
  RDom i(0, keyWidth, "i");
  stage.product = Func("product");
  stage.product(row, key, head) = 0.0f;
  stage.product(row, key, head) += stage.queries(row, i, head) * stage.keys(key, i, head);
  stage.score = Func("score");
  stage.score(row, key, head) =
      select(seen(key), strict_float(stage.product(row, key, head) * float(getScale().convertToDouble())), nothing);

  // Lanes of keys, those that no query of the tile sees left out: they would only add zeros.
  auto lanesOf = [&](const char *name) {
    RDom t(0, (keys + lanes - 1) / lanes, name);
    if (causal)
      t.where(t * lanes < end);
    if (hasWindow)
      t.where((t + 1) * lanes > begin);
    return t;
  };
  RDom tMax = lanesOf("lanes_of_max"), tSum = lanesOf("lanes_of_sum");
  stage.laneMax = Func("lane_max");
  stage.laneMax(lane, row, head) = nothing;
  stage.laneMax(lane, row, head) =
      strict_float(max(stage.laneMax(lane, row, head), stage.score(row, tMax * lanes + lane, head)));
  stage.largest = kernel.combineLanes(stage.laneMax, lanes, true, stage.maxHalves, "largest");
  stage.weight = Func("weight");
  stage.weight(row, key, head) = select(
      seen(key), exponentialOfNegative(strict_float(stage.score(row, key, head) - stage.largest(row, head))), 0.0f);
  stage.laneSum = Func("lane_sum");
  stage.laneSum(lane, row, head) = 0.0f;
  stage.laneSum(lane, row, head) =
      strict_float(stage.laneSum(lane, row, head) + stage.weight(row, tSum * lanes + lane, head));
  stage.sum = kernel.combineLanes(stage.laneSum, lanes, false, stage.sumHalves, "sum");

  // Σ weight · v, keys in order, each a fused multiply-add. A weight of 0 takes nothing of a value, but 0 · NaN would:
  // a query takes the keys that it sees, and no others. Where all queries of a tile see the same, they go through them
  // together; else each goes through its own. With a mask a value that is not seen is 0, and nothing is fused, since
  // whether a product that was selected is depends on the schedule. A schedule may compute some features more, so that
  // sums are whole vectors and keep their order: the first ones again, and not the last, since a vector of equal
  // features is seen to be one product, which is used many times and then not fused.
  Expr valueFeature = valueWidth % 4 ? select(feature < valueWidth, feature, feature % valueWidth) : Expr(feature);
  int depth = int(kernel.depthTile());
  stage.values = Func("values");
  stage.values(feature, key, head) = v(head * valueWidth + feature, depth ? min(key, keys - 1) : Expr(key));
  stage.gathered = Func("gathered");
  stage.gathered(feature, row, head) = 0.0f;
  auto gather = [&](const char *name, Expr from, Expr to, bool apart) {
    RDom s(0, keys, name);
    s.where(s >= from && s < to);
    if (apart && causal)
      s.where(s <= at + row);
    if (apart && hasWindow)
      s.where(s > at + row - window);
    stage.gathered(feature, row, head) += stage.weight(row, s, head) * stage.values(valueFeature, s, head);
    if (!apart)
      stage.updateOfTile = stage.gathered.num_update_definitions() - 1;
  };
  if (depth) { // each query goes through its own keys, a tile of them after another
    Var t("tile");
    RDom i(0, depth, "i"), tiles(0, (keys + depth - 1) / depth, "tiles_of_values");
    Expr s = t * depth + i;
    i.where(seen(s));
    stage.tile = Func("value_tile");
    stage.tile(feature, row, head, t) = 0.0f;
    stage.tile(feature, row, head, t) += stage.weight(row, s, head) * stage.values(feature, s, head);
    stage.gathered(feature, row, head) =
        strict_float(stage.gathered(feature, row, head) + stage.tile(feature, row, head, tiles));
  } else if (hasMask) {
    RDom s(0, keys, "masked");
    s.where(s >= begin && s < end);
    Expr value = select(seen(s), stage.values(valueFeature, s, head), 0.0f);
    stage.gathered(feature, row, head) =
        strict_float(stage.gathered(feature, row, head) + stage.weight(row, s, head) * value);
    stage.updateOfTile = 0;
  } else {
    if (hasWindow && !oneQuery)
      gather("before", begin, all, /*apart=*/true);
    gather("seen_by_all", all, allEnd, /*apart=*/false);
    if (causal)
      gather("behind", allEnd, end, /*apart=*/true);
  }
  stage.part = Func("part");
  stage.part(feature, row, head) = strict_float(stage.gathered(feature, row, head) + 0.0f); // no −0

  // 0 where no key is seen. A sum that is not a number is not 0, and shows.
  Func y("attention");
  Expr sum = stage.sum(row, feature / valueWidth);
  y(feature, row) = select(strict_float(sum != 0.0f),
                           strict_float(stage.part(feature % valueWidth, row, feature / valueWidth) / sum), 0.0f);

  kernel.attend(stage);
  kernel.define(y);
}
