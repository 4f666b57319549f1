// What gate means, and what fits.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult GateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType(), signal = adaptor.getSignal().getType();
  if (!isRows(x))
    return refuse(location, "gate: x has shape " + describe(x) + ", expected [rows, features]");
  if (signal != withFeatures(x, 1))
    return refuse(location, "gate: the signal has shape " + describe(signal) + ", expected " +
                                describe(withFeatures(x, 1)) + ": one value for each row of x");
  if (adaptor.getThreshold().isNaN())
    return refuse(location, "gate: the threshold is not a number");
  results.push_back(x);
  return success();
}

LogicalResult GateOp::verify() {
  auto yield = getBody().front().empty() ? YieldOp() : dyn_cast<YieldOp>(getBody().front().back());
  if (!yield)
    return emitOpError() << "ends without encoder.yield";
  Type update = yield.getUpdate().getType();
  if (update != getX().getType())
    return emitOpError() << "yields an update of shape " << describe(update) << ", expected x's shape "
                         << describe(getX().getType());
  return success();
}

HostTensor GateOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0], &signal = operands[1], &update = operands[2];
  HostTensor y = x;
  for (int64_t row = 0; row < x.rows(); ++row)
    if (signal(row, 0) > float(getThreshold().convertToDouble()))
      for (int64_t i = 0; i < x.features(); ++i)
        y(row, i) += update(row, i);
  return y;
}
