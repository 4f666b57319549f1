// What l2_normalize means.
#include "dialect/encoder.h"
#include <cmath>

using namespace mlir;
using namespace burin;

LogicalResult L2NormalizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  if (!isRows(x))
    return refuse(location, "l2_normalize: x has shape " + describe(x) + ", expected [rows, features]");
  results.push_back(x);
  return success();
}

HostTensor L2NormalizeOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  HostTensor y = operands[0];
  for (int64_t row = 0; row < y.rows(); ++row) {
    double squares = 0;
    for (int64_t i = 0; i < y.features(); ++i)
      squares += y(row, i) * y(row, i);
    for (int64_t i = 0; i < y.features() && squares > 1e-30; ++i) // see l2_normalize.td
      y(row, i) /= std::sqrt(squares);
  }
  return y;
}
