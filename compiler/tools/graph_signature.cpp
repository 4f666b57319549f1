#include "tools/graph_signature.h"
#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace burin {

const Axis *GraphSignature::findAxis(StringRef name) const {
  auto found = llvm::find_if(axes, [&](const Axis &axis) { return axis.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

const Axis *GraphSignature::streamAxis() const {
  if (axes.size() == 1)
    return &axes[0];
  for (const EntryTensor &output : outputs)
    if (!output.rows.empty())
      return findAxis(output.rows);
  return nullptr;
}

const Axis *GraphSignature::contextAxis() const {
  const Axis *stream = streamAxis();
  return axes.size() == 2 && stream ? &axes[stream == &axes[0] ? 1 : 0] : nullptr;
}

static void noteAxis(GraphSignature &signature, StringAttr symbol, int64_t maximum) {
  if (!signature.findAxis(symbol.getValue()))
    signature.axes.push_back({symbol.str(), maximum});
}

static EntryTensor readTensor(StringRef name, RankedTensorType type) {
  EntryTensor tensor;
  tensor.name = name.str();
  if (auto pairs = dyn_cast_or_null<PairsAttr>(type.getEncoding())) {
    tensor.type = ElementType::U8;
    tensor.rows = pairs.getQuery().str();
    tensor.columnsBy = pairs.getKey().str();
    return tensor;
  }
  if (RowsAttr rows = rowsOf(type))
    tensor.rows = rows.getSymbol().str();
  tensor.rowsEach = rowsEach(type);
  if (type.getElementType().isInteger(32))
    tensor.type = ElementType::I32;
  tensor.columns = featuresOf(type);
  return tensor;
}

GraphSignature signatureOf(ModuleOp module) {
  GraphSignature signature;
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  for (BlockArgument argument : forward.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    if (RowsAttr rows = rowsOf(type))
      noteAxis(signature, rows.getSymbol(), rows.getMax());
    if (auto pairs = dyn_cast_or_null<PairsAttr>(type.getEncoding())) {
      noteAxis(signature, pairs.getQuery(), pairs.getQueryMax());
      noteAxis(signature, pairs.getKey(), pairs.getKeyMax());
    }
    unsigned index = argument.getArgNumber();
    if (auto name = forward.getArgAttrOfType<StringAttr>(index, attribute::name))
      signature.inputs.push_back(readTensor(name.getValue(), type));
    if (type.getElementType().isInteger(32))
      signature.inputs.back().limit = idLimitOf(argument);
  }
  for (auto [index, type] : llvm::enumerate(forward.getResultTypes()))
    signature.outputs.push_back(readTensor(forward.getResultAttrOfType<StringAttr>(index, attribute::name).getValue(),
                                           cast<RankedTensorType>(type)));
  llvm::StringSet<> seen;
  forward.walk([&](ParameterOp parameter) {
    if (seen.insert(parameter.getName()).second)
      signature.parameters.push_back({parameter.getName().str(),
                                      cast<RankedTensorType>(parameter.getType()).getShape().vec(),
                                      parameter.getInit().str()});
  });
  return signature;
}

} // namespace burin
