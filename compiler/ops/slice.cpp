// What slice means, and when it is nothing.
#include "dialect/encoder.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace burin;

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  int64_t first = adaptor.getFirst(), size = adaptor.getSize();
  if (!isRows(x))
    return refuse(location, "slice: x has shape " + describe(x) + ", expected [rows, features]");
  int64_t end;
  if (llvm::AddOverflow(first, size, end))
    end = std::numeric_limits<int64_t>::max();
  if (first < 0 || size < 1 || end > featuresOf(x))
    return refuse(location,
                  "slice: columns [" + Twine(first) + ", " + Twine(end) + ") of " + Twine(featuresOf(x)) + " features");
  results.push_back(withFeatures(x, size));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) { return getX().getType() == getType() ? getX() : OpFoldResult(); }

HostTensor SliceOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  HostTensor y({operands[0].rows(), int64_t(getSize())});
  for (int64_t row = 0; row < y.rows(); ++row)
    for (int64_t column = 0; column < y.features(); ++column)
      y(row, column) = operands[0](row, getFirst() + column);
  return y;
}
