#include "dialect/encoder.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace burin;

#include "dialect/encoder_dialect.cpp.inc"
#include "dialect/encoder_interfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/encoder_attributes.cpp.inc"
namespace burin { // ops/gate.cpp: the parts of ops' syntax that are no declaration
ParseResult parseGateBody(OpAsmParser &parser, Region &body);
void printGateBody(OpAsmPrinter &printer, Operation *op, Region &body);
} // namespace burin
#define GET_OP_CLASSES
#include "dialect/encoder_ops.cpp.inc"

void EncoderDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/encoder_attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/encoder_ops.cpp.inc"
      >();
}

namespace burin {

static constexpr std::pair<KernelClass, llvm::StringLiteral> kernelClassNames[] = {
    {KernelClass::Pointwise, "pointwise"}, {KernelClass::RowReduce, "row_reduce"},
    {KernelClass::Contract, "contract"},   {KernelClass::Attend, "attend"},
    {KernelClass::Pool, "pool"},           {KernelClass::Whole, "whole"}};

llvm::StringRef kernelClassName(KernelClass kernelClass) {
  for (auto &[value, name] : kernelClassNames)
    if (value == kernelClass)
      return name;
  llvm_unreachable("a kernel class without a name");
}

std::optional<KernelClass> kernelClassNamed(llvm::StringRef name) {
  for (auto &[value, known] : kernelClassNames)
    if (known == name)
      return value;
  return std::nullopt;
}

RankedTensorType withFeatures(Type rows, int64_t features) {
  auto type = cast<RankedTensorType>(rows);
  return RankedTensorType::get({type.getDimSize(0), features}, type.getElementType(), type.getEncoding());
}

int64_t featuresOf(Type rows) { return cast<RankedTensorType>(rows).getShape().back(); }

RowsAttr rowsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<RowsAttr>(tensor.getEncoding()) : RowsAttr();
}

bool isRows(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != 2 || tensor.isDynamicDim(1))
    return false;
  Attribute encoding = tensor.getEncoding();
  return encoding ? isa<RowsAttr, PerSequenceAttr>(encoding) && tensor.isDynamicDim(0) : !tensor.isDynamicDim(0);
}

bool isKept(RowsAttr rows) { return rows.getSymbol().empty(); }

int64_t rowsEach(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (auto perSequence = dyn_cast_or_null<PerSequenceAttr>(tensor.getEncoding()))
    return perSequence.getRows();
  return tensor.isDynamicDim(0) || tensor.getRank() < 2 ? 1 : tensor.getDimSize(0);
}

int64_t storageElements(Type storage) {
  auto type = cast<RankedTensorType>(storage);
  auto cache = dyn_cast_or_null<CacheAttr>(type.getEncoding());
  if (!cache || cache.getTile() == 0)
    return type.getNumElements();
  return llvm::alignTo(cache.getMax(), cache.getTile()) * type.getShape().back();
}

std::string describe(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    stream << type;
    return text;
  }
  stream << "[";
  for (int64_t axis = 0; axis < tensor.getRank(); ++axis) {
    stream << (axis ? ", " : "");
    if (!tensor.isDynamicDim(axis))
      stream << tensor.getDimSize(axis);
    else if (auto rows = dyn_cast_or_null<RowsAttr>(tensor.getEncoding()))
      stream << rows.getSymbol().getValue() << " <= " << rows.getMax();
    else if (auto pairs = dyn_cast_or_null<PairsAttr>(tensor.getEncoding()))
      stream << (axis ? pairs.getKey() : pairs.getQuery()).getValue();
    else
      stream << "sequences" << (rowsEach(type) > 1 ? " * " + std::to_string(rowsEach(type)) : "");
  }
  stream << "]";
  return text;
}

std::string describe(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

LogicalResult refuse(std::optional<Location> location, const llvm::Twine &message) {
  return emitOptionalError(location, message);
}

} // namespace burin
