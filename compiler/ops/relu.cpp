// What relu means.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult ReluOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  if (!isRows(x))
    return refuse(location, "relu: x has shape " + describe(x) + ", expected [rows, features]");
  results.push_back(x);
  return success();
}

HostTensor ReluOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  return operands[0].map([](double x) { return x < 0 ? 0.0 : x; });
}
