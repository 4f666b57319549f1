// What gate means, and what fits.
#include "dialect/encoder.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace burin;

namespace burin { // what the generated parser and printer of the op call; declared in dialect/encoder.cpp
ParseResult parseGateBody(OpAsmParser &parser, Region &body);
void printGateBody(OpAsmPrinter &printer, Operation *op, Region &body);
} // namespace burin

/// Text may name a value before it is made. Ops around the gate must not keep what is made inside when a mistake ends
/// the region: MLIR's parser would then touch it once more.
ParseResult burin::parseGateBody(OpAsmParser &parser, Region &body) {
  ParseResult result = parser.parseRegion(body);
  bool isUsedOutside = false;
  for (Operation &op : body.getOps())
    for (OpOperand &use : llvm::make_early_inc_range(op.getUses())) {
      Region *its = use.getOwner()->getParentRegion(); // null where the text around is still being read
      if (its && body.isAncestor(its))
        continue;
      isUsedOutside = true;
      use.drop();
    }
  if (isUsedOutside && succeeded(result))
    return parser.emitError(parser.getCurrentLocation(), "makes a value that is used outside of it");
  return result;
}

void burin::printGateBody(OpAsmPrinter &printer, Operation *, Region &body) { printer.printRegion(body); }

LogicalResult GateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType(), signal = adaptor.getSignal().getType();
  if (!isRows(x))
    return refuse(location, "gate: x has shape " + describe(x) + ", expected [rows, features]");
  if (signal != withFeatures(x, 1))
    return refuse(location, "gate: the signal has shape " + describe(signal) + ", expected " +
                                describe(withFeatures(x, 1)) + ": one value for each row of x");
  if (adaptor.getThreshold().isNaN())
    return refuse(location, "gate: the threshold is not a number");
  results.push_back(x);
  return success();
}

LogicalResult GateOp::verify() {
  auto yield = getBody().front().empty() ? YieldOp() : dyn_cast<YieldOp>(getBody().front().back());
  if (!yield)
    return emitOpError() << "ends without encoder.yield";
  Type update = yield.getUpdate().getType();
  if (update != getX().getType())
    return emitOpError() << "yields an update of shape " << describe(update) << ", expected x's shape "
                         << describe(getX().getType());
  return success();
}

HostTensor GateOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0], &signal = operands[1], &update = operands[2];
  HostTensor y = x;
  for (int64_t row = 0; row < x.rows(); ++row)
    if (signal(row, 0) > float(getThreshold().convertToDouble()))
      for (int64_t i = 0; i < x.features(); ++i)
        y(row, i) += update(row, i);
  return y;
}
