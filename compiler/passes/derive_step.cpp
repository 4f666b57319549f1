// derive_step: from forward make the entries of its streams, and the state they need. A stream is a time symbol whose
// rows come one after another while the program runs: `step` takes a row of the one that the outputs belong to, and
// each of the others is a context whose rows are appended.
//
// It stands before form_kernels because it reads ops, and after canonicalize so that what folds away needs no state. It
// reads nothing of an op but its stream rules:
//   1. Every value belongs to the stream of what it is made of; what no stream is part of belongs to none. An op with a
//      refused operand, or with operands of two streams, has no step; that ends the derivation, with the reason.
//   2. A stream's entry holds the ops that belong to it. A row of forward becomes the row that is taken.
//   3. An operand that looks back becomes all rows so far: `append` of the new row to a state value. Where it belongs
//      to another stream, that stream's entry ends with a `store` of it, and here it is a `recall`.
//   4. A running op becomes `accumulate` of the new row into a state value.
//   5. An operand that counts rows becomes the stream's position.
//   6. Everything else is copied, and its type inferred again.
// Each entry is made twice: for one row, and for some rows at once. Where the latter is not one computation for each op
// (latent queries give an output for every prefix), there is only the former.
//
// Rejected: a `step` that the user writes, or that a room writes. Both can differ from forward; this cannot.
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/passes.h"
#include "passes/streams.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_DERIVESTEP
#include "passes/passes.h.inc"

namespace {

/// Builds one entry.
class EntryMaker {
public:
  EntryMaker(func::FuncOp forward, const Streams &streams, StringAttr stream, bool many)
      : forward_(forward), streams_(streams), stream_(stream), many_(many), builder_(forward.getContext()) {}

  /// Null, and nothing left behind, where `many` rows are not one computation, or where an op cannot be inferred.
  func::FuncOp make(StringRef name) {
    builder_.setInsertionPointToEnd(forward_->getParentOfType<ModuleOp>().getBody());
    entry_ = func::FuncOp::create(builder_, forward_.getLoc(), name, builder_.getFunctionType({}, {}));
    entry_->setAttr(attribute::stream, stream_);
    if (many_)
      entry_->setAttr(attribute::many, builder_.getUnitAttr());
    builder_.setInsertionPointToStart(entry_.addEntryBlock());
    addArguments();
    for (Operation &op : forward_.getBody().front()) {
      if (isa<func::ReturnOp>(op) || (streams_.of(&op) && streams_.of(&op) != stream_))
        continue;
      if (failed(copy(op))) {
        entry_.erase();
        return {};
      }
    }
    storeForOthers();
    finish();
    return entry_;
  }

private:
  /// The type of the taken rows for a row type of forward.
  Type rowType(Type type) const {
    auto tensor = cast<RankedTensorType>(type);
    return many_ ? type : RankedTensorType::get({1, tensor.getShape().back()}, tensor.getElementType());
  }

  Value addArgument(Type type, ArrayRef<NamedAttribute> attributes) {
    unsigned index = entry_.getNumArguments();
    if (failed(entry_.insertArgument(index, type, builder_.getDictionaryAttr(attributes), entry_.getLoc())))
      llvm_unreachable("an argument behind the last");
    return entry_.getArgument(index);
  }

  void addArguments() {
    for (BlockArgument argument : forward_.getArguments())
      if (streams_.of(argument) == stream_) {
        DictionaryAttr attributes = forward_.getArgAttrDict(argument.getArgNumber());
        Value row =
            addArgument(rowType(argument.getType()), attributes ? attributes.getValue() : ArrayRef<NamedAttribute>());
        map_.map(argument, row);
      }
    for (StringAttr symbol : streams_.symbols())
      counts_[symbol] = addArgument(RankedTensorType::get({1, 1}, builder_.getI64Type()),
                                    builder_.getNamedAttr(attribute::count, symbol));
  }

  StateOp stateOf(const KeptValue &value) {
    StateOp &state = states_[value.name];
    if (!state) {
      state = StateOp::create(builder_, value.location, value.storage, value.name, IntegerAttr());
      state->setAttr(attribute::stream, value.stream);
      if (value.keys)
        state->setAttr(attribute::keys, builder_.getUnitAttr());
    }
    return state;
  }

  LogicalResult copy(Operation &op) {
    auto streamable = dyn_cast<StreamableOpInterface>(op);
    if (!streamable) { // parameters
      builder_.clone(op, map_);
      return success();
    }
    SmallVector<Value> operands;
    bool looksBack = false, takesRows = false;
    for (auto [operand, rule] : llvm::zip_equal(op.getOpOperands(), streamable.getStreamRules())) {
      const KeptValue *kept = streams_.keptFor(operand);
      bool isOther = kept && kept->stream != stream_;
      Value row = isOther ? Value() : map_.lookup(operand.get());
      switch (rule.kind) {
      case StreamRule::Kind::LookBack:
        looksBack |= !isOther;
        row = isOther ? RecallOp::create(builder_, op.getLoc(), counts_[kept->stream], stateOf(*kept)).getResult()
                      : AppendOp::create(builder_, op.getLoc(), row, counts_[stream_], stateOf(*kept)).getResult();
        break;
      case StreamRule::Kind::Running:
        map_.map(op.getResult(0), AccumulateOp::create(builder_, op.getLoc(), row, counts_[stream_], stateOf(*kept),
                                                       rule.combine, rule.finish)
                                      .getResult());
        return success();
      case StreamRule::Kind::Counter:
      case StreamRule::Kind::Pointwise:
        takesRows |= streams_.of(operand.get()) == stream_;
        break;
      case StreamRule::Kind::Refused:
        llvm_unreachable("refused before");
      }
      operands.push_back(row);
    }
    if (many_ && looksBack && !takesRows)
      return failure(); // an output for each prefix of what it looks back at
    IRMapping local(map_);
    Operation *copy = op.clone(local);
    copy->setOperands(operands);
    builder_.insert(copy);
    SmallVector<Type> types;
    if (failed(cast<InferTypeOpInterface>(copy).inferReturnTypes(
            op.getContext(), op.getLoc(), copy->getOperands(), copy->getAttrDictionary(), copy->getPropertiesStorage(),
            copy->getRegions(), types)))
      return failure();
    for (auto [from, to, type] : llvm::zip_equal(op.getResults(), copy->getResults(), types)) {
      to.setType(type);
      map_.map(from, to);
    }
    return success();
  }

  /// What ops of other streams look back at, after all else.
  void storeForOthers() {
    for (const KeptValue &kept : streams_.kept())
      if (kept.stream == stream_ && kept.isForAnother)
        StoreOp::create(builder_, kept.location, map_.lookup(kept.value), counts_[stream_], stateOf(kept));
  }

  /// The return, and what nothing needs goes.
  void finish() {
    SmallVector<Value> results;
    SmallVector<Type> types;
    if (stream_ == streams_.symbols().front())
      for (Value value : forward_.getBody().front().getTerminator()->getOperands()) {
        results.push_back(map_.lookup(value));
        types.push_back(results.back().getType());
      }
    func::ReturnOp::create(builder_, forward_.getLoc(), results);
    Block &body = entry_.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
    entry_.setType(builder_.getFunctionType(entry_.getArgumentTypes(), types));
    for (unsigned i = 0; i < results.size(); ++i)
      if (DictionaryAttr attributes = forward_.getResultAttrDict(i))
        entry_.setResultAttrs(i, attributes);
    for (unsigned i = entry_.getNumArguments(); i-- > 0;) {
      bool isHidden = entry_.getArgAttr(i, attribute::count) || entry_.getArgAttr(i, attribute::positions);
      if (isHidden && entry_.getArgument(i).use_empty() && failed(entry_.eraseArgument(i)))
        llvm_unreachable("an argument that nothing uses");
    }
  }

  func::FuncOp forward_, entry_;
  const Streams &streams_;
  StringAttr stream_;
  bool many_;
  OpBuilder builder_;
  IRMapping map_;
  llvm::DenseMap<StringAttr, Value> counts_;
  llvm::StringMap<StateOp> states_;
};

/// Of a graph, whatever the target: two compilations whose states mean the same have the same.
uint64_t fingerprintOf(std::optional<StringRef> model, func::FuncOp forward) {
  std::string text = model.value_or("").str();
  llvm::raw_string_ostream stream(text);
  forward->print(stream, OpPrintingFlags().useLocalScope());
  return llvm::xxh3_64bits(text);
}

struct DeriveStep : impl::DeriveStepBase<DeriveStep> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward || module.lookupSymbol("step"))
      return;
    Streams streams(forward);
    if (const std::optional<Refusal> &refusal = streams.refusal()) {
      if (module->hasAttr(attribute::requireStep)) {
        emitError(refusal->location) << refusal->subject << " cannot be part of step: " << refusal->reason;
        emitRemark(refusal->location) << refusal->fix;
        return signalPassFailure();
      }
      module->setAttr(attribute::noStep, StringAttr::get(module.getContext(), refusal->text()));
      return;
    }
    Builder builder(module.getContext());
    module->setAttr(attribute::graph, builder.getI64IntegerAttr(int64_t(fingerprintOf(module.getName(), forward))));
    SmallVector<Attribute> symbols(streams.symbols().begin(), streams.symbols().end());
    module->setAttr(attribute::streams, builder.getArrayAttr(symbols));
    for (auto [index, symbol] : llvm::enumerate(streams.symbols())) {
      std::string one = index == 0 ? "step" : "append." + symbol.str();
      std::string many = index == 0 ? "advance" : one + ".many";
      func::FuncOp entry = EntryMaker(forward, streams, symbol, /*many=*/false).make(one);
      if (!entry)
        return signalPassFailure();
      entry->setAttr(attribute::capacity, builder.getI64IntegerAttr(streams.capacityOf(symbol)));
      entry->setAttr(attribute::positionEnd, builder.getI64IntegerAttr(streams.positionEndOf(symbol)));
      EntryMaker(forward, streams, symbol, /*many=*/true).make(many);
    }
  }
};

} // namespace
} // namespace burin
