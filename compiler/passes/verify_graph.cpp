// verify_graph: everything a user can get wrong, reported at the user's line, all of it, then stop.
//
// It stands first, so that every later pass may trust the graph. Shape rules live in the ops; what is checked here is
// what no single op can see: names, entries, axes, outputs.
#include "mlir/IR/Verifier.h"
#include "passes/passes.h"
#include "llvm/ADT/StringMap.h"
#include <cctype>

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_VERIFYGRAPH
#include "passes/passes.h.inc"

namespace {

constexpr int64_t maxAxes = 4, maxTensors = 16; // BURIN_MAX_AXES, BURIN_MAX_TENSORS of runtime/burin_plan.h

/// Reserved in C99 or C++, so that a generated header could not be compiled.
constexpr llvm::StringLiteral reserved[] = {
    "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const", "constexpr",
    "continue", "default", "delete", "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float",
    "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "nullptr",
    "operator", "or", "private", "protected", "public", "register", "requires", "restrict", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid", "typename",
    "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor",
    // names that the generated declarations use themselves
    "model", "scratch", "scratch_bytes", "state", "sequences", "count"};

bool isIdentifier(StringRef name) {
  return !name.empty() && !llvm::is_contained(reserved, name) && !std::isdigit((unsigned char)name[0]) &&
         llvm::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

struct VerifyGraph : impl::VerifyGraphBase<VerifyGraph> {
  bool failed = false;
  llvm::StringMap<int64_t> axes;
  llvm::StringMap<Type> parameters;

  InFlightDiagnostic error(Location location) {
    failed = true;
    return emitError(location);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    failed = false;
    axes.clear();
    parameters.clear();
    // Names that begin with "burin" are the runtime's.
    if (!module.getName() || (!isIdentifier(*module.getName()) && *module.getName() != "model") ||
        module.getName()->starts_with("burin"))
      error(module.getLoc()) << "the model is named '" << module.getName().value_or("")
                             << "', expected a C identifier that is not reserved";
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward || forward.isExternal() || !forward.getBody().hasOneBlock()) {
      error(module.getLoc()) << "the model has no function @forward with one block";
      return signalPassFailure();
    }
    checkArguments(forward);
    for (Operation &op : forward.getBody().front())
      checkOp(&op);
    if (!failed) // results are only worth a look where every op is sound
      checkResults(forward);
    if (failed)
      signalPassFailure();
  }

  void checkAxes(Location location, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
    auto check = [&](StringAttr symbol, int64_t max) {
      auto [known, isNew] = axes.try_emplace(symbol.getValue(), max);
      if (!isNew && known->second != max)
        error(location) << "time symbol '" << symbol.getValue() << "' has maximum " << max << " here and "
                        << known->second << " elsewhere";
      if (isNew && int64_t(axes.size()) == maxAxes + 1)
        error(location) << "the graph has more than " << maxAxes << " time symbols";
      if (symbol.empty())
        error(location) << "a time symbol has no name";
      if (max < 1)
        error(location) << "time symbol '" << symbol.getValue() << "' has maximum " << max << ", expected at least 1";
    };
    if (auto rows = dyn_cast_or_null<RowsAttr>(tensor.getEncoding()))
      check(rows.getSymbol(), rows.getMax());
    if (auto pairs = dyn_cast_or_null<PairsAttr>(tensor.getEncoding())) {
      check(pairs.getQuery(), pairs.getQueryMax());
      check(pairs.getKey(), pairs.getKeyMax());
    }
  }

  void checkArguments(func::FuncOp forward) {
    llvm::StringMap<bool> names;
    for (BlockArgument argument : forward.getArguments()) {
      checkAxes(argument.getLoc(), argument.getType());
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (forward.getArgAttr(argument.getArgNumber(), attribute::positions))
        continue;
      auto name = forward.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute::name);
      StringRef text = name ? name.getValue() : "";
      if (!isIdentifier(text))
        error(argument.getLoc()) << "input " << argument.getArgNumber() << " is named '" << text
                                 << "', expected a C identifier that is not reserved";
      else if (!names.try_emplace(text, true).second)
        error(argument.getLoc()) << "two inputs are named '" << text << "'";
      bool isMask =
          type && isa_and_nonnull<PairsAttr>(type.getEncoding()) && type.getElementType().isUnsignedInteger(8);
      bool isInput = type && rowsOf(type) && type.getElementType().isF32();
      bool isIds = type && rowsOf(type) && type.getElementType().isSignlessInteger(32) && featuresOf(type) == 1;
      if (!isMask && !isInput && !isIds)
        error(argument.getLoc()) << "input '" << text << "' has type " << argument.getType()
                                 << ", expected f32 rows, i32 ids or a ui8 mask";
    }
    if (int64_t(names.size()) > maxTensors)
      error(forward.getLoc()) << "the graph has " << names.size() << " inputs, expected at most " << maxTensors;
  }

  void checkOp(Operation *op) {
    if (isa<func::ReturnOp>(op))
      return;
    if (!isa<EncoderDialect>(op->getDialect())) {
      error(op->getLoc()) << "'" << op->getName() << "' is not an encoder op";
      return;
    }
    if (::failed(verify(op, /*verifyRecursively=*/false))) {
      failed = true;
      return;
    }
    if (op->hasTrait<OpTrait::OneResult>())
      checkAxes(op->getLoc(), op->getResult(0).getType());
    if (isa<StateOp>(op) || !isMemoryEffectFree(op)) {
      error(op->getLoc()) << "'" << op->getName() << "' is part of a step, which is derived; a graph cannot hold it";
      return;
    }
    for (Region &region : op->getRegions())
      for (Operation &inner : region.front())
        if (!inner.hasTrait<OpTrait::IsTerminator>())
          checkOp(&inner);
    if (auto parameter = dyn_cast<ParameterOp>(op)) {
      auto [known, isNew] = parameters.try_emplace(parameter.getName(), parameter.getType());
      if (!isNew && known->second != parameter.getType())
        error(op->getLoc()) << "parameter '" << parameter.getName() << "' has shape " << describe(parameter.getType())
                            << " here and " << describe(known->second) << " elsewhere";
      if (parameter.getName().empty())
        error(op->getLoc()) << "a parameter has no name";
    }
  }

  /// What is left of a value when ops that do nothing are gone: an op that folds to its first operand.
  static Value withoutFolds(Value value) {
    SmallVector<OpFoldResult> folded;
    while (Operation *op = value.getDefiningOp()) {
      folded.clear();
      if (op->getNumOperands() == 0 || ::failed(op->fold(SmallVector<Attribute>(op->getNumOperands()), folded)) ||
          folded.empty() || llvm::dyn_cast<Value>(folded[0]) != op->getOperand(0))
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  void checkResults(func::FuncOp forward) {
    Operation *end = forward.getBody().front().getTerminator();
    llvm::StringMap<bool> names;
    SmallPtrSet<Value, 8> seen;
    if (end->getNumOperands() == 0)
      error(forward.getLoc()) << "the graph has no output";
    if (int64_t(end->getNumOperands()) > maxTensors)
      error(forward.getLoc()) << "the graph has " << end->getNumOperands() << " outputs, expected at most "
                              << maxTensors;
    for (auto [index, value] : llvm::enumerate(end->getOperands())) {
      auto name = forward.getResultAttrOfType<StringAttr>(index, attribute::name);
      StringRef text = name ? name.getValue() : "";
      if (!isIdentifier(text))
        error(end->getLoc()) << "output " << index << " is named '" << text
                             << "', expected a C identifier that is not reserved";
      else if (!names.try_emplace(text, true).second)
        error(end->getLoc()) << "two outputs are named '" << text << "'";
      value = withoutFolds(value);
      if (!isa_and_nonnull<KernelOpInterface, GateOp>(value.getDefiningOp()))
        error(end->getLoc()) << "output '" << text << "' is not computed: it is an input or a parameter";
      else if (!seen.insert(value).second)
        error(end->getLoc()) << "output '" << text << "' is the same value as another output";
    }
  }
};

} // namespace
} // namespace burin
