// What accumulate means. It exists only in derived steps, so a stream never asks how it sees time.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult AccumulateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  if (adaptor.getCombine() != "add" && adaptor.getCombine() != "first")
    return refuse(location, "accumulate: combine '" + adaptor.getCombine() + "', expected 'add' or 'first'");
  if (adaptor.getFinish() != "divide_by_count" && adaptor.getFinish() != "none")
    return refuse(location, "accumulate: finish '" + adaptor.getFinish() + "', expected 'divide_by_count' or 'none'");
  results.push_back(adaptor.getX().getType());
  return success();
}

SmallVector<StreamRule> AccumulateOp::getStreamRules() {
  return {3, StreamRule::refused("it is a step already", "derive a step from forward")};
}

HostTensor AccumulateOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0], &past = operands[2];
  double position = operands[1](0);
  HostTensor y(x.shape());
  for (int64_t i = 0; i < x.features(); ++i) {
    if (getCombine() == "add")
      y(0, i) = past(i) + x(0, i);
    else
      y(0, i) = position == 0 ? x(0, i) : past(i);
    if (getFinish() == "divide_by_count")
      y(0, i) /= position + 1;
  }
  return y;
}
