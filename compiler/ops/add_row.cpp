// What add_row means, and which operands fit.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult AddRowOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  int64_t row = adaptor.getRow();
  if (!isRows(x))
    return refuse(location, "add_row: x has shape " + describe(x) + ", expected [rows, features]");
  if (table.getRank() != 2 || table.getDimSize(1) != featuresOf(x))
    return refuse(location, "add_row: the table has shape " + describe(table) + ", expected [rows of the table, " +
                                Twine(featuresOf(x)) + "]");
  if (row < 0 || row >= table.getDimSize(0))
    return refuse(location, "add_row: row " + Twine(row) + " of a table with " + Twine(table.getDimSize(0)) + " rows");
  results.push_back(x);
  return success();
}

HostTensor AddRowOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  HostTensor y = operands[0];
  for (int64_t row = 0; row < y.rows(); ++row)
    for (int64_t i = 0; i < y.features(); ++i)
      y(row, i) += operands[1](int64_t(getRow()), i);
  return y;
}
