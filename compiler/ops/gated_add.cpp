// What gated_add means, which operands fit, and which of them closed rows do not read.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult GatedAddOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType(), signal = adaptor.getSignal().getType(), update = adaptor.getUpdate().getType();
  if (!isRows(x))
    return refuse(location, "gated_add: x has shape " + describe(x) + ", expected [rows, features]");
  if (signal != withFeatures(x, 1))
    return refuse(location,
                  "gated_add: the signal has shape " + describe(signal) + ", expected " + describe(withFeatures(x, 1)));
  if (update != x)
    return refuse(location, "gated_add: x has shape " + describe(x) + ", the update has shape " + describe(update) +
                                "; expected equal shapes");
  results.push_back(x);
  return success();
}

unsigned GatedAddOp::getSignalOperand() { return 1; }
unsigned GatedAddOp::getGuardedOperand() { return 2; }
float GatedAddOp::getOpenAbove() { return float(getThreshold().convertToDouble()); }

HostTensor GatedAddOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0], &signal = operands[1], &update = operands[2];
  HostTensor y = x;
  for (int64_t row = 0; row < x.rows(); ++row)
    if (signal(row, 0) > getOpenAbove())
      for (int64_t i = 0; i < x.features(); ++i)
        y(row, i) += update(row, i);
  return y;
}
