// What concatenate means, and which parts fit together.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &results) {
  if (adaptor.getParts().empty())
    return refuse(location, "concatenate: expected at least one part");
  auto first = cast<RankedTensorType>(adaptor.getParts()[0].getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank())
    return refuse(location,
                  "concatenate: axis " + Twine(axis) + " of parts with " + Twine(first.getRank()) + " dimensions");
  SmallVector<int64_t> shape(first.getShape());
  for (Value part : adaptor.getParts().drop_front()) {
    auto type = cast<RankedTensorType>(part.getType());
    bool fits = type.getRank() == first.getRank();
    for (int64_t i = 0; fits && i < type.getRank(); ++i)
      fits = i == axis || type.getDimSize(i) == first.getDimSize(i);
    if (!fits)
      return refuse(location, "concatenate: a part has shape " + describe(type) + ", which does not join " +
                                  describe(first) + " along axis " + Twine(axis));
    shape[axis] += type.getDimSize(axis);
  }
  results.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

HostTensor ConcatenateOp::evaluate(llvm::ArrayRef<HostTensor> parts) {
  HostTensor result(getType().getShape());
  int64_t columns = getType().getShape().back();
  int64_t first = 0; // column, or row, or element at which the next part begins
  for (const HostTensor &part : parts) {
    for (int64_t row = 0; row < part.size() / part.features(); ++row)
      for (int64_t column = 0; column < part.features(); ++column) {
        bool downwards = getType().getRank() == 2 && getAxis() == 0;
        int64_t target = downwards ? (row + first) * columns + column : row * columns + column + first;
        result(target) = part(row * part.features() + column);
      }
    first += part.shape()[getAxis()];
  }
  return result;
}
