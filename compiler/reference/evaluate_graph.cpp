#include "reference/evaluate_graph.h"

using namespace mlir;

namespace burin {

namespace {

llvm::Error failure(const Twine &message) { return llvm::createStringError(llvm::inconvertibleErrorCode(), message); }

class Evaluator {
public:
  Evaluator(func::FuncOp forward, const ReferenceInputs &given, ReferenceObserver observe)
      : forward_(forward), given_(given), observe_(observe) {}

  llvm::Expected<SmallVector<HostTensor>> run() {
    for (BlockArgument argument : forward_.getArguments())
      if (llvm::Error error = bindArgument(argument))
        return error;
    SmallVector<HostTensor> results;
    if (llvm::Error error = evaluate(forward_.getBody().front(), results))
      return error;
    return results;
  }

private:
  llvm::Error bindArgument(BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    if (forward_.getArgAttr(index, attribute::positions)) {
      StringRef symbol = rowsOf(argument.getType()).getSymbol().getValue();
      auto rows = given_.rows.find(symbol);
      if (rows == given_.rows.end())
        return failure("the reference was not told the rows of '" + symbol + "'");
      HostTensor positions({rows->second, 1});
      for (int64_t row = 0; row < rows->second; ++row)
        positions(row) = double(row);
      values_[argument] = positions;
      return llvm::Error::success();
    }
    StringRef name = forward_.getArgAttrOfType<StringAttr>(index, attribute::name).getValue();
    auto input = given_.inputs.find(name);
    if (input == given_.inputs.end())
      return failure("the reference was not given input '" + name + "'");
    values_[argument] = input->second;
    return llvm::Error::success();
  }

  /// The ops of a block in order; what its terminator gives is added to `results`.
  llvm::Error evaluate(Block &block, SmallVectorImpl<HostTensor> &results) {
    for (Operation &op : block.without_terminator())
      if (llvm::Error error = evaluate(&op))
        return error;
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(values_.lookup(value));
    return llvm::Error::success();
  }

  /// What a region yields stands behind the operands of its op.
  llvm::Error evaluate(Operation *op) {
    if (auto parameter = dyn_cast<ParameterOp>(op)) {
      auto value = given_.parameters.find(parameter.getName());
      if (value == given_.parameters.end())
        return failure("the reference was not given parameter '" + parameter.getName() + "'");
      values_[parameter] = value->second;
      return llvm::Error::success();
    }
    auto reference = dyn_cast<ReferenceOpInterface>(op);
    if (!reference)
      return failure("the reference cannot evaluate '" + op->getName().getStringRef() + "'");
    SmallVector<HostTensor> operands;
    for (Value operand : op->getOperands())
      operands.push_back(values_.lookup(operand));
    for (Region &region : op->getRegions())
      if (llvm::Error error = evaluate(region.front(), operands))
        return error;
    HostTensor result = reference.evaluate(operands);
    if (observe_)
      observe_(op, operands, result);
    values_[op->getResult(0)] = std::move(result);
    return llvm::Error::success();
  }

  func::FuncOp forward_;
  const ReferenceInputs &given_;
  ReferenceObserver observe_;
  llvm::DenseMap<Value, HostTensor> values_;
};

} // namespace

llvm::Expected<SmallVector<HostTensor>> evaluateGraph(func::FuncOp forward, const ReferenceInputs &given,
                                                      ReferenceObserver observe) {
  return Evaluator(forward, given, observe).run();
}

} // namespace burin
