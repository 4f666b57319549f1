// What first_step means, and how it runs along a stream.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult FirstStepOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  if (!rowsOf(x))
    return refuse(location, "first_step: x has shape " + describe(x) + ", expected [time, features]");
  results.push_back(RankedTensorType::get({ShapedType::kDynamic, featuresOf(x)}, Float32Type::get(context),
                                          PerSequenceAttr::get(context, /*rows=*/1)));
  return success();
}

SmallVector<StreamRule> FirstStepOp::getStreamRules() { return {StreamRule::running("first", "first", "none")}; }

HostTensor FirstStepOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  HostTensor y({1, x.features()});
  for (int64_t i = 0; i < x.features() && x.rows() > 0; ++i)
    y(0, i) = x(0, i);
  return y;
}
