// What mean_over_time means, and how it runs along a stream.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult MeanOverTimeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  if (!rowsOf(x))
    return refuse(location, "mean_over_time: x has shape " + describe(x) + ", expected [time, features]");
  results.push_back(RankedTensorType::get({ShapedType::kDynamic, featuresOf(x)}, Float32Type::get(context),
                                          PerSequenceAttr::get(context, /*rows=*/1)));
  return success();
}

SmallVector<StreamRule> MeanOverTimeOp::getStreamRules() {
  return {StreamRule::running("sum", "add", "divide_by_count")};
}

HostTensor MeanOverTimeOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  HostTensor y({1, x.features()});
  for (int64_t row = 0; row < x.rows(); ++row)
    for (int64_t i = 0; i < x.features(); ++i)
      y(0, i) += x(row, i) / x.rows();
  return y;
}
