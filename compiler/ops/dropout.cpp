// What dropout means at inference: nothing.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  double p = adaptor.getP().convertToDouble();
  if (!(p >= 0 && p < 1))
    return refuse(location, "dropout: p is " + describe(p) + ", expected 0 <= p < 1");

  results.push_back(adaptor.getX().getType());
  return success();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) { return getX(); }

SmallVector<StreamRule> DropoutOp::getStreamRules() { return {StreamRule::pointwise()}; }

HostTensor DropoutOp::evaluate(llvm::ArrayRef<HostTensor> operands) { return operands[0]; }
