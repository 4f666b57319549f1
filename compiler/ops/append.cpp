// Which operands append takes. It exists only in derived steps, so a stream never asks how it sees time.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult AppendOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto past = cast<RankedTensorType>(adaptor.getPast().getType());
  auto cache = dyn_cast_or_null<CacheAttr>(past.getEncoding());
  if (!cache || featuresOf(adaptor.getRow().getType()) != past.getShape().back())
    return refuse(location, "append: the state has shape " + describe(past) + ", expected a cache of rows like " +
                                describe(adaptor.getRow().getType()));
  // "step" is the symbol of rows kept by a stream: as many as samples so far.
  auto rows = RowsAttr::get(context, StringAttr::get(context, "step"), cache.getMax());
  results.push_back(
      RankedTensorType::get({ShapedType::kDynamic, past.getShape().back()}, Float32Type::get(context), rows));
  return success();
}

SmallVector<StreamRule> AppendOp::getStreamRules() {
  return {3, StreamRule::refused("it is a step already", "derive a step from forward")};
}

HostTensor AppendOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &row = operands[0], &past = operands[2];
  int64_t position = int64_t(operands[1](0));
  HostTensor rows({position + 1, row.features()});
  for (int64_t i = 0; i < row.features(); ++i) {
    for (int64_t t = 0; t < position; ++t)
      rows(t, i) = past(t, i);
    rows(position, i) = row(0, i);
  }
  return rows;
}
