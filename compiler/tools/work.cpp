#include "tools/work.h"
#include "passes/passes.h"

using namespace mlir;

namespace burin {

static double rowsOfValue(Value value, const RowCounts &rows) {
  RowsAttr encoding = rowsOf(value.getType());
  if (!encoding)
    return double(rowsEach(value.getType()));
  auto found = rows.find(encoding.getSymbol().getValue());
  if (found == rows.end())
    return double(encoding.getMax());
  return double(isKept(encoding) ? std::min(found->second, encoding.getMax()) : found->second);
}

double flopsOf(Operation *op, const RowCounts &rows) {
  auto kernelOp = dyn_cast<KernelOpInterface>(op);
  if (!kernelOp)
    return 0;
  SmallVector<double> counts;
  for (Value operand : op->getOperands())
    counts.push_back(rowsOfValue(operand, rows));
  return kernelOp.getFlops(counts);
}

func::FuncOp entryOf(ModuleOp module, StringRef stream, bool many) {
  for (func::FuncOp entry : entriesOf(module)) {
    auto symbol = entry->getAttrOfType<StringAttr>(attribute::stream);
    if (symbol && symbol.getValue() == stream && entry->hasAttr(attribute::many) == many)
      return entry;
  }
  return {};
}

double flopsIn(func::FuncOp function, const RowCounts &rows) {
  double flops = 0;
  for (Operation &op : function.getBody().front()) {
    auto call = dyn_cast<func::CallOp>(op);
    flops += call ? flopsIn(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()), rows)
                  : flopsOf(&op, rows);
  }
  return flops;
}

} // namespace burin
