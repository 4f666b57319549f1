// What accumulate means. It exists only in derived entries, so a stream never asks how it sees time.
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
  return {3, StreamRule::refused("it is part of a step already", "derive a step from forward")};
}

HostTensor AccumulateOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  HostTensor y(x.shape());
  for (int64_t i = 0; i < x.features(); ++i) {
    double combined = operands[2](i);
    for (int64_t row = 0; row < x.rows(); ++row) {
      double count = operands[1](0) + double(row);
      if (getCombine() == "add")
        combined += x(row, i);
      else if (count == 0)
        combined = x(row, i);
      y(row, i) = getFinish() == "divide_by_count" ? combined / (count + 1) : combined;
    }
  }
  return y;
}
