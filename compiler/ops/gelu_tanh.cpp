// What gelu_tanh means.
#include "dialect/encoder.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace burin;

LogicalResult GeluTanhOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  if (!isRows(x))
    return refuse(location, "gelu_tanh: x has shape " + describe(x) + ", expected [rows, features]");
  results.push_back(x);
  return success();
}

HostTensor GeluTanhOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  return operands[0].map([](double x) {
    double u = std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(u));
  });
}
