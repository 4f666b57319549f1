#include "dialect/precision.h"
#include "dialect/encoder.h"
#include <bit>
#include <cmath>

using namespace mlir;

namespace burin {

static constexpr std::pair<Precision, llvm::StringLiteral> precisionNames[] = {{Precision::Float32, "float32"},
                                                                               {Precision::BFloat16, "bf16"},
                                                                               {Precision::BFloat16Dot, "bf16-dot"},
                                                                               {Precision::Int8, "int8"}};

llvm::StringRef precisionName(Precision precision) {
  for (auto &[value, name] : precisionNames)
    if (value == precision)
      return name;
  llvm_unreachable("a precision without a name");
}

std::optional<Precision> precisionNamed(llvm::StringRef name) {
  for (auto &[value, known] : precisionNames)
    if (known == name)
      return value;
  return std::nullopt;
}

static std::string listed(ArrayRef<StringRef> names, StringRef last) {
  std::string text;
  for (auto [index, name] : llvm::enumerate(names))
    text += ((index == 0 ? "" : index + 1 == names.size() ? last : ", ") + name).str();
  return text;
}

std::string listedPrecisions() {
  SmallVector<StringRef> names;
  for (auto &[value, name] : precisionNames)
    names.push_back(name);
  return listed(names, " or ");
}

Precision precisionOf(Operation *contract) {
  auto name = contract->getAttrOfType<StringAttr>(attribute::precision);
  return name ? *precisionNamed(name) : Precision::Float32; // the op's shape rule refuses other names
}

static void forEachContract(ModuleOp module, llvm::function_ref<void(Operation *)> visit) {
  module.walk([&](KernelOpInterface op) {
    if (op.getPanelOperand() >= 0)
      visit(op);
  });
}

void setPrecision(ModuleOp module, Precision precision) {
  forEachContract(module, [&](Operation *op) {
    if (precision == Precision::Float32) // the default is not written: a graph has one text
      op->removeAttr(attribute::precision);
    else
      op->setAttr(attribute::precision, StringAttr::get(module.getContext(), precisionName(precision)));
  });
}

Precision narrowestPrecision(ModuleOp module) {
  Precision narrowest = Precision::Float32;
  forEachContract(module, [&](Operation *op) { narrowest = std::max(narrowest, precisionOf(op)); });
  return narrowest;
}

bool hasPrecision(ModuleOp module, Precision precision) {
  bool found = false;
  forEachContract(module, [&](Operation *op) { found |= precisionOf(op) == precision; });
  return found;
}

std::string describePrecision(ModuleOp module) {
  bool found[std::size(precisionNames)] = {};
  forEachContract(module, [&](Operation *op) { found[size_t(precisionOf(op))] = true; });
  SmallVector<StringRef> names;
  for (auto &[value, name] : precisionNames)
    if (found[size_t(value)])
      names.push_back(name);
  return names.empty() ? precisionName(Precision::Float32).str() : listed(names, " and ");
}

float roundToBFloat16(float value) {
  if (std::isnan(value))
    return value;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t below = bits & 0xFFFF, kept = bits >> 16;
  kept += below > 0x8000 || (below == 0x8000 && (kept & 1));
  return std::bit_cast<float>(kept << 16);
}

} // namespace burin
