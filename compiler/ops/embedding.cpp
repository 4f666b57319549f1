// What embedding means, which operands fit, and which ids it takes.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto ids = cast<RankedTensorType>(adaptor.getIds().getType());
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  if (!isRows(ids) || featuresOf(ids) != 1)
    return refuse(location, "embedding: the ids have shape " + describe(ids) + ", expected [rows, 1]");
  if (table.getRank() != 2)
    return refuse(location, "embedding: the table has shape " + describe(table) + ", expected [vocabulary, features]");
  results.push_back(
      RankedTensorType::get({ids.getDimSize(0), table.getDimSize(1)}, Float32Type::get(context), ids.getEncoding()));
  return success();
}

int64_t EmbeddingOp::getIdLimit() { return getTable().getType().getDimSize(0); }

HostTensor EmbeddingOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  HostTensor y({operands[0].rows(), operands[1].features()});
  for (int64_t row = 0; row < y.rows(); ++row)
    for (int64_t i = 0; i < y.features(); ++i)
      y(row, i) = operands[1](int64_t(operands[0](row, 0)), i);
  return y;
}
