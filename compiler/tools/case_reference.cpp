#include "tools/case_reference.h"

namespace burin {

CaseReference::CaseReference(const GoldenCase &given, const GraphSignature &signature)
    : case_(given), signature_(signature) {
  for (const EntryTensor &tensor : signature_.inputs)
    inputs_[tensor.name] = case_.input(tensor.name).toDoubles();
  for (const GraphParameter &parameter : signature_.parameters) {
    HostTensor value(parameter.shape);
    value.values() = case_.parameter(parameter.name).toDoubles();
    given_.parameters[parameter.name] = std::move(value);
  }
}

llvm::Expected<llvm::SmallVector<HostTensor>> CaseReference::evaluate(mlir::ModuleOp graph, int64_t sequence,
                                                                      ReferenceObserver observe) {
  for (auto [axis, offsets] : llvm::zip_equal(signature_.axes, case_.offsets()))
    given_.rows[axis.name] = offsets[sequence + 1] - offsets[sequence];
  for (const EntryTensor &tensor : signature_.inputs) {
    int64_t rows = given_.rows[tensor.rows];
    int64_t columns = tensor.columnsBy.empty() ? tensor.columns : given_.rows[tensor.columnsBy];
    HostTensor value({rows, columns});
    auto begin = inputs_[tensor.name].begin() + case_.offsets()[0][sequence] * columns; // 0 unless there is one symbol
    std::copy(begin, begin + rows * columns, value.values().begin());
    given_.inputs[tensor.name] = std::move(value);
  }
  return evaluateGraph(graph.lookupSymbol<mlir::func::FuncOp>("forward"), given_, observe);
}

} // namespace burin
