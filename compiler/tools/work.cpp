#include "tools/work.h"

using namespace mlir;

namespace burin {

static double rowsOfValue(Value value, const RowCounts &rows) {
  RowsAttr encoding = rowsOf(value.getType());
  if (!encoding)
    return 1;
  auto found = rows.find(encoding.getSymbol().getValue());
  return double(found == rows.end() ? encoding.getMax() : found->second);
}

static double flopsOf(KernelOpInterface op, const RowCounts &rows) {
  if (int weight = op.getPanelOperand(); weight >= 0)
    return 2 * rowsOfValue(op->getResult(0), rows) *
           double(cast<ShapedType>(op->getOperand(weight).getType()).getNumElements());
  if (op.getKernelClass() != KernelClass::Attend)
    return 0;
  Value q = op->getOperand(0), k = op->getOperand(1), v = op->getOperand(2); // of every op of this class
  return 2 * rowsOfValue(q, rows) * rowsOfValue(k, rows) * double(featuresOf(q.getType()) + featuresOf(v.getType()));
}

double flopsIn(func::FuncOp function, const RowCounts &rows) {
  double flops = 0;
  for (Operation &op : function.getBody().front()) {
    if (auto kernelOp = dyn_cast<KernelOpInterface>(op))
      flops += flopsOf(kernelOp, rows);
    else if (auto call = dyn_cast<func::CallOp>(op))
      flops += flopsIn(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()), rows);
  }
  return flops;
}

} // namespace burin
