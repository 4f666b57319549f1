// What gelu means.
#include "dialect/encoder.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace burin;

LogicalResult GeluOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  if (!isRows(x))
    return refuse(location, "gelu: x has shape " + describe(x) + ", expected [rows, features]");
  results.push_back(x);
  return success();
}

HostTensor GeluOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  return operands[0].map([](double x) { return 0.5 * x * std::erfc(-x * std::numbers::sqrt2 / 2); });
}
