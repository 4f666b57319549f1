// derive_step: from forward make step, which takes one more sample, and the state it needs.
//
// It stands before form_kernels because it reads ops, and after canonicalize so that what folds away needs no state. It
// reads nothing of an op but its stream rules:
//   1. An op with a refused operand has no step; that ends the derivation, with the reason.
//   2. A row of forward becomes the one row of step.
//   3. An operand that looks back becomes all rows so far: `append` of the new row to a state value.
//   4. A running op becomes `accumulate` of the new row into a state value.
//   5. An operand that counts rows becomes the state's position.
//   6. Everything else is copied, and its type inferred again.
//
// Rejected: a `step` that the user writes, or that a room writes. Both can differ from forward; this cannot.
#include "mlir/IR/IRMapping.h"
#include "passes/passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_DERIVESTEP
#include "passes/passes.h.inc"

namespace {

/// Why a graph has no step: an op (or the whole graph), the reason, and what to change.
struct Refusal {
  Location location;
  std::string subject, reason, fix;
};

/// "policy.cpp:12: "; without the folder, so that objects and headers do not depend on where a graph's source lies.
std::string placeOf(Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    return (llvm::sys::path::filename(place.getFilename().getValue()) + ":" + Twine(place.getLine()) + ": ").str();
  return "";
}

struct DeriveStep : impl::DeriveStepBase<DeriveStep> {
  llvm::StringMap<int> stateNames;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    stateNames.clear();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward || module.lookupSymbol("step"))
      return;
    if (std::optional<Refusal> refusal = refusalOf(forward)) {
      if (module->hasAttr(attribute::requireStep)) {
        emitError(refusal->location) << refusal->subject << " cannot be part of step: " << refusal->reason;
        emitRemark(refusal->location) << refusal->fix;
        return signalPassFailure();
      }
      std::string text = placeOf(refusal->location) + refusal->subject + ": " + refusal->reason + "; " + refusal->fix;
      module->setAttr(attribute::noStep, StringAttr::get(module.getContext(), text));
      return;
    }
    if (failed(derive(forward)))
      signalPassFailure();
  }

  static std::optional<Refusal> refusalOf(func::FuncOp forward) {
    RowsAttr axis;
    for (Type type : forward.getArgumentTypes()) {
      RowsAttr rows = rowsOf(type);
      if (rows && axis && rows.getSymbol() != axis.getSymbol())
        return Refusal{
            forward.getLoc(), "the graph",
            ("it has two time axes, " + axis.getSymbol().getValue() + " and " + rows.getSymbol().getValue()).str(),
            "give its inputs the same time"};
      if (rows)
        axis = rows;
    }
    if (!axis)
      return Refusal{forward.getLoc(), "the graph", "it has no input along time", "give it one"};
    for (Operation &op : forward.getBody().front())
      if (auto streamable = dyn_cast<StreamableOpInterface>(op))
        for (const StreamRule &rule : streamable.getStreamRules())
          if (rule.kind == StreamRule::Kind::Refused)
            return Refusal{op.getLoc(), op.getName().stripDialect().str(), rule.reason, rule.fix};
    return std::nullopt;
  }

  /// The type of a step's one row for a row type of forward.
  static Type rowType(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return RankedTensorType::get({1, tensor.getShape().back()}, tensor.getElementType());
  }

  LogicalResult derive(func::FuncOp forward) {
    OpBuilder builder(forward);
    builder.setInsertionPointAfter(forward);
    Block &from = forward.getBody().front();

    // The entry: each argument one row; the position always, since every state value needs it.
    SmallVector<Type> arguments, results;
    SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
    bool hasPositions = false;
    for (BlockArgument argument : from.getArguments()) {
      arguments.push_back(rowType(argument.getType()));
      argumentAttributes.push_back(forward.getArgAttrDict(argument.getArgNumber()));
      hasPositions |= bool(forward.getArgAttr(argument.getArgNumber(), attribute::positions));
    }
    if (!hasPositions) {
      arguments.push_back(RankedTensorType::get({1, 1}, builder.getI64Type()));
      argumentAttributes.push_back(
          builder.getDictionaryAttr(builder.getNamedAttr(attribute::positions, builder.getUnitAttr())));
    }
    for (auto [index, type] : llvm::enumerate(forward.getResultTypes())) {
      results.push_back(rowType(type));
      resultAttributes.push_back(forward.getResultAttrDict(index));
    }
    auto step = func::FuncOp::create(builder, forward.getLoc(), "step", builder.getFunctionType(arguments, results), {},
                                     argumentAttributes);
    for (auto [index, attributes] : llvm::enumerate(resultAttributes))
      if (attributes)
        step.setResultAttrs(index, attributes);
    Block *to = step.addEntryBlock();
    builder.setInsertionPointToStart(to);

    IRMapping map;
    Value position;
    for (auto [index, argument] : llvm::enumerate(to->getArguments())) {
      if (index < from.getNumArguments())
        map.map(from.getArgument(index), argument);
      if (step.getArgAttr(index, attribute::positions))
        position = argument;
    }
    for (Operation &op : from)
      if (failed(deriveOp(builder, op, map, position)))
        return failure();
    return success();
  }

  LogicalResult deriveOp(OpBuilder &builder, Operation &op, IRMapping &map, Value position) {
    auto streamable = dyn_cast<StreamableOpInterface>(op);
    if (!streamable) { // parameters, and the return
      builder.clone(op, map);
      return success();
    }
    SmallVector<StreamRule> rules = streamable.getStreamRules();
    assert(rules.size() == op.getNumOperands() && "a rule per operand");
    SmallVector<Value> operands;
    for (auto [operand, rule] : llvm::zip_equal(op.getOperands(), rules)) {
      Value row = map.lookup(operand);
      switch (rule.kind) {
      case StreamRule::Kind::LookBack: {
        int64_t max = rowsOf(operand.getType()).getMax();
        auto storage = RankedTensorType::get({max, featuresOf(row.getType())}, builder.getF32Type(),
                                             CacheAttr::get(op.getContext(), 0, max));
        StateOp past = makeState(builder, op, rule.name, storage);
        if (rule.keys)
          past->setAttr(attribute::keys, builder.getUnitAttr());
        row = AppendOp::create(builder, op.getLoc(), row, position, past);
        break;
      }
      case StreamRule::Kind::Running: {
        StateOp past =
            makeState(builder, op, rule.name, RankedTensorType::get({featuresOf(row.getType())}, builder.getF64Type()));
        map.map(op.getResult(0),
                AccumulateOp::create(builder, op.getLoc(), row, position, past, rule.combine, rule.finish).getResult());
        return success();
      }
      case StreamRule::Kind::Counter:
        row = position;
        break;
      case StreamRule::Kind::Pointwise:
        break;
      case StreamRule::Kind::Refused:
        llvm_unreachable("refused before");
      }
      operands.push_back(row);
    }
    IRMapping local(map);
    Operation *copy = op.clone(local);
    copy->setOperands(operands);
    builder.insert(copy);
    SmallVector<Type> types;
    if (failed(cast<InferTypeOpInterface>(copy).inferReturnTypes(
            op.getContext(), op.getLoc(), copy->getOperands(), copy->getAttrDictionary(), copy->getPropertiesStorage(),
            copy->getRegions(), types)))
      return failure();
    for (auto [from, to, type] : llvm::zip_equal(op.getResults(), copy->getResults(), types)) {
      to.setType(type);
      map.map(from, to);
    }
    return success();
  }

  /// A state value named below its op's scope; a name that is taken gets a number.
  StateOp makeState(OpBuilder &builder, Operation &op, StringRef name, Type storage) {
    auto scope = op.getAttrOfType<StringAttr>(attribute::scope);
    std::string full = scope && !scope.getValue().empty() ? (scope.getValue() + "." + name).str() : name.str();
    if (int count = stateNames[full]++)
      full += "_" + std::to_string(count + 1);
    return StateOp::create(builder, op.getLoc(), storage, full, IntegerAttr());
  }
};

} // namespace
} // namespace burin
