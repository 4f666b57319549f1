// Which operands recall takes. It exists only in derived entries, so a stream never asks how it sees time.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult RecallOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto past = cast<RankedTensorType>(adaptor.getPast().getType());
  auto cache = dyn_cast_or_null<CacheAttr>(past.getEncoding());
  if (!cache || cache.getWindow())
    return refuse(location, "recall: the state has shape " + describe(past) + ", expected a cache that keeps all rows");
  auto rows = RowsAttr::get(context, StringAttr::get(context, ""), cache.getMax());
  results.push_back(
      RankedTensorType::get({ShapedType::kDynamic, past.getShape().back()}, Float32Type::get(context), rows));
  return success();
}

SmallVector<StreamRule> RecallOp::getStreamRules() {
  return {2, StreamRule::refused("it is part of a step already", "derive a step from forward")};
}

HostTensor RecallOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &past = operands[1];
  HostTensor rows({int64_t(operands[0](0)), past.features()});
  for (int64_t t = 0; t < rows.rows(); ++t)
    for (int64_t i = 0; i < past.features(); ++i)
      rows(t, i) = past(t, i);
  return rows;
}
