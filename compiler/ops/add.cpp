// What add means, and which operands fit.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult AddOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  Type a = adaptor.getA().getType(), b = adaptor.getB().getType();
  if (!isRows(a))
    return refuse(location, "add: a has shape " + describe(a) + ", expected [rows, features]");
  if (a != b)
    return refuse(location,
                  "add: a has shape " + describe(a) + ", b has shape " + describe(b) + "; expected equal shapes");
  results.push_back(a);
  return success();
}

HostTensor AddOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  HostTensor y = operands[0];
  for (int64_t i = 0; i < y.size(); ++i)
    y(i) += operands[1](i);
  return y;
}
