// What attention means, which operands fit, and how it sees time.
#include "dialect/encoder.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace burin;

/// True where rows may stand in an attention: those of a sequence, or a fixed number.
static bool isTimeRows(Type type) {
  return isRows(type) && (rowsOf(type) || !cast<RankedTensorType>(type).getEncoding());
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  Type q = adaptor.getQ().getType(), k = adaptor.getK().getType(), v = adaptor.getV().getType();
  int64_t heads = adaptor.getHeads();
  for (auto [name, type] : {std::pair("q", q), std::pair("k", k), std::pair("v", v)})
    if (!isTimeRows(type))
      return refuse(location,
                    Twine("attention: ") + name + " has shape " + describe(type) + ", expected [time, features]");
  if (featuresOf(q) != featuresOf(k)) // attention_c1
    return refuse(location, "attention: q has " + Twine(featuresOf(q)) + " features, k has " + Twine(featuresOf(k)) +
                                "; expected equal widths");
  if (rowsOf(k) != rowsOf(v)) // attention_c2
    return refuse(location,
                  "attention: k has shape " + describe(k) + ", v has shape " + describe(v) + "; expected equal rows");
  if (heads < 1)
    return refuse(location, "attention: heads is " + Twine(heads) + ", expected at least 1");
  for (Type type : {k, v}) // attention_c3
    if (featuresOf(type) % heads)
      return refuse(location,
                    "attention: " + Twine(heads) + " heads do not divide " + Twine(featuresOf(type)) + " features");
  if (std::optional<int64_t> window = adaptor.getWindow(); window && *window < 1)
    return refuse(location, "attention: window is " + Twine(*window) + ", expected at least 1");
  else if (window && *window > std::numeric_limits<int32_t>::max())
    return refuse(location, "attention: window is " + Twine(*window) + ", expected at most " +
                                Twine(std::numeric_limits<int32_t>::max()));
  if (!std::isfinite(adaptor.getScale().convertToDouble()))
    return refuse(location, "attention: scale is not finite");
  if (Value mask = adaptor.getMask()) {
    auto type = cast<RankedTensorType>(mask.getType());
    auto pairs = dyn_cast_or_null<PairsAttr>(type.getEncoding());
    RowsAttr queries = rowsOf(q), keys = rowsOf(k);
    bool fits =
        pairs && queries && keys && pairs.getQuery() == queries.getSymbol() && pairs.getKey() == keys.getSymbol();
    if (!fits) // attention_c4
      return refuse(location, "attention: the mask has shape " + describe(type) + ", expected the rows of q " +
                                  describe(q) + " by the rows of k " + describe(k));
  }
  // Queries of a fixed number see the keys of each sequence: so many rows for each. A stream's keys are one sequence's.
  RowsAttr keys = rowsOf(k);
  auto result = cast<RankedTensorType>(withFeatures(q, featuresOf(v)));
  if (!result.getEncoding() && keys && !isKept(keys))
    result = RankedTensorType::get({ShapedType::kDynamic, featuresOf(v)}, result.getElementType(),
                                   PerSequenceAttr::get(q.getContext(), result.getDimSize(0)));
  results.push_back(result);
  return success();
}

SmallVector<StreamRule> AttentionOp::getStreamRules() {
  RowsAttr queries = rowsOf(getQ().getType()), keys = rowsOf(getK().getType());
  bool sameStream = queries && keys && queries.getSymbol() == keys.getSymbol();
  SmallVector<StreamRule> rules{StreamRule::pointwise()};
  if (sameStream && !getCausal()) {
    rules.append(2, StreamRule::refused("it is not causal, so a row would need rows that come later",
                                        "declare it with .causal = true"));
  } else if (!sameStream && (getCausal() || getWindow())) {
    rules.append(2, StreamRule::refused((getCausal() ? "it is causal" : "it has a window") +
                                            std::string(" between two sequences, which ties their ends to one another, "
                                                        "but streams go on apart"),
                                        "declare it without: a query then sees all of the context so far"));
  } else if (!keys) {
    rules.append(2, StreamRule::pointwise()); // a fixed number of rows, the same at all times
  } else {
    int64_t window = getWindow().value_or(0);
    rules.push_back(StreamRule::lookBack("k_cache", /*keys=*/true, window));
    rules.push_back(StreamRule::lookBack("v_cache", /*keys=*/false, window));
  }
  if (getMask())
    rules.push_back(
        StreamRule::refused("its boolean mask is not known before the whole sequence is",
                            "declare it without a mask; .causal = true and .window say what a stream sees"));
  return rules;
}

double AttentionOp::getFlops(llvm::ArrayRef<double> rows) {
  // Pairs of a query and a key that it sees; what a mask hides is counted, since it is not known.
  double queries = rows[0], keys = rows[1], first = keys - queries, pairs = 0;
  double window = getWindow() ? double(*getWindow()) : keys + queries;
  if (getCausal())
    for (double query = 0; query < queries; ++query)
      pairs += std::clamp(first + query + 1, 0.0, window);
  else
    for (double query = 0; query < queries; ++query)
      pairs += std::clamp(keys - std::max(first + query + 1 - window, 0.0), 0.0, keys);
  return 2 * pairs * double(featuresOf(getQ().getType()) + featuresOf(getV().getType()));
}

HostTensor AttentionOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &q = operands[0], &k = operands[1], &v = operands[2];
  const HostTensor *mask = operands.size() > 3 ? &operands[3] : nullptr;
  int64_t heads = getHeads(), keyWidth = q.features() / heads, valueWidth = v.features() / heads;
  HostTensor y({q.rows(), v.features()}); // a query that sees no key keeps 0

  for (int64_t head = 0; head < heads; ++head)
    for (int64_t query = 0; query < q.rows(); ++query) {
      std::vector<std::pair<int64_t, double>> scores; // the keys that this query sees
      for (int64_t key = 0; key < k.rows(); ++key) {
        int64_t at = k.rows() - q.rows() + query;
        bool seen = (!getCausal() || key <= at) && (!getWindow() || key > at - int64_t(*getWindow())) &&
                    (!mask || (*mask)(query, key) != 0);
        if (!seen)
          continue;
        double score = 0;
        for (int64_t i = 0; i < keyWidth; ++i)
          score += q(query, head * keyWidth + i) * k(key, head * keyWidth + i);
        scores.emplace_back(key, score * getScale().convertToDouble());
      }
      if (scores.empty())
        continue;
      double largest = scores[0].second, sum = 0;
      for (auto &[key, score] : scores)
        largest = std::max(largest, score);
      for (auto &[key, score] : scores)
        sum += score = std::exp(score - largest);
      for (auto &[key, weight] : scores)
        for (int64_t i = 0; i < valueWidth; ++i)
          y(query, head * valueWidth + i) += weight / sum * v(key, head * valueWidth + i);
    }
  return y;
}
