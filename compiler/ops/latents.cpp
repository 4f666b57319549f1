// What latents means.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult LatentsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  if (table.getRank() != 2)
    return refuse(location, "latents: the table has shape " + describe(table) + ", expected [rows, features]");
  results.push_back(table);
  return success();
}

HostTensor LatentsOp::evaluate(llvm::ArrayRef<HostTensor> operands) { return operands[0]; }
