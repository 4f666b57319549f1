// Which operands append takes. It exists only in derived entries, so a stream never asks how it sees time.
#include "dialect/encoder.h"
#include <algorithm>

using namespace mlir;
using namespace burin;

LogicalResult AppendOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto past = cast<RankedTensorType>(adaptor.getPast().getType());
  auto cache = dyn_cast_or_null<CacheAttr>(past.getEncoding());
  Type row = adaptor.getRow().getType();
  if (!cache || featuresOf(row) != past.getShape().back())
    return refuse(location,
                  "append: the state has shape " + describe(past) + ", expected a cache of rows like " + describe(row));
  int64_t most = cache.getMax();
  if (RowsAttr fresh = rowsOf(row); fresh && cache.getWindow()) // the ring's rows and new ones
    most += std::min(most, fresh.getMax());
  auto rows = RowsAttr::get(context, StringAttr::get(context, ""), most);
  results.push_back(
      RankedTensorType::get({ShapedType::kDynamic, past.getShape().back()}, Float32Type::get(context), rows));
  return success();
}

SmallVector<StreamRule> AppendOp::getStreamRules() {
  return {3, StreamRule::refused("it is part of a step already", "derive a step from forward")};
}

HostTensor AppendOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &fresh = operands[0], &past = operands[2];
  int64_t count = int64_t(operands[1](0));
  HostTensor rows({count + fresh.rows(), fresh.features()});
  for (int64_t t = 0; t < rows.rows(); ++t)
    for (int64_t i = 0; i < fresh.features(); ++i)
      rows(t, i) = t < count ? past(t, i) : fresh(t - count, i);
  return rows;
}
