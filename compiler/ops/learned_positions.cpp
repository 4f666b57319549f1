// What learned_positions means, how long it lasts, and how it sees time.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult LearnedPositionsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto positions = cast<RankedTensorType>(adaptor.getPositions().getType());
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  if (table.getRank() != 2)
    return refuse(location,
                  "learned_positions: the table has shape " + describe(table) + ", expected [max_len, d_model]");
  if (RowsAttr rows = rowsOf(positions); rows && rows.getMax() > table.getDimSize(0))
    return refuse(location, "learned_positions: " + rows.getSymbol().getValue() + " can reach " + Twine(rows.getMax()) +
                                ", but the table has " + Twine(table.getDimSize(0)) + " rows");
  results.push_back(RankedTensorType::get({positions.getDimSize(0), table.getDimSize(1)}, Float32Type::get(context),
                                          positions.getEncoding()));
  return success();
}

SmallVector<StreamRule> LearnedPositionsOp::getStreamRules() {
  return {StreamRule::counter(/*end=*/getTable().getType().getDimSize(0)), StreamRule::pointwise()};
}

HostTensor LearnedPositionsOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  HostTensor y({operands[0].rows(), operands[1].features()});
  for (int64_t row = 0; row < y.rows(); ++row)
    for (int64_t i = 0; i < y.features(); ++i)
      y(row, i) = operands[1](int64_t(operands[0](row, 0)), i);
  return y;
}
