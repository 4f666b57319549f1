// From a module of calls to the tables that the runtime executes.
#include "emit/model_plan.h"
#include "emit/split.h"
#include "emit/weight_views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/passes.h"
#include "schedules/packed_panels.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace burin {

namespace {

class PlanMaker {
public:
  PlanMaker(ModuleOp module, const Target &target, ModelPlan &plan) : module_(module), target_(target), plan_(plan) {}

  void run() {
    for (Attribute axis : module_->getAttrOfType<ArrayAttr>(attribute::axes)) {
      NamedAttribute symbol = *cast<DictionaryAttr>(axis).begin();
      plan_.axes.push_back({symbol.getName().str(), cast<IntegerAttr>(symbol.getValue()).getInt()});
    }
    plan_.weightsBytes = integer(module_, attribute::weightsBytes);
    if (auto streams = module_->getAttrOfType<ArrayAttr>(attribute::streams)) {
      plan_.stateBytes = integer(module_, attribute::stateBytes);
      plan_.graph = integer(module_, attribute::graph);
      for (auto symbol : streams.getAsRange<StringAttr>()) {
        PlanStream &stream = plan_.streams.emplace_back();
        stream.name = symbol.str();
        stream.axis = axisNamed(symbol);
      }
    }
    for (func::FuncOp entry : entriesOf(module_))
      addEntry(entry);
    if (auto why = module_->getAttrOfType<StringAttr>(attribute::noStep))
      plan_.noStep = why.str();
    for (const std::string &name : parameterNames_)
      plan_.parameters.push_back(parameters_[name]);
  }

private:
  static int64_t integer(Operation *op, StringRef name) {
    auto value = op->getAttrOfType<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  }

  static int elementType(Type type) {
    Type element = cast<RankedTensorType>(type).getElementType();
    if (element.isF32())
      return BURIN_F32;
    if (element.isF64())
      return BURIN_F64;
    return element.isInteger(64) ? BURIN_I64 : element.isInteger(32) ? BURIN_I32 : BURIN_U8;
  }

  int axisNamed(StringAttr symbol) const {
    for (auto [index, axis] : llvm::enumerate(plan_.axes))
      if (axis.name == symbol.getValue())
        return index;
    llvm_unreachable("verify_graph and plan_memory list every time symbol");
  }

  /// Rows and columns of a tensor as axes.
  template <typename T> void describeShape(Type type, T &out) const {
    auto tensor = cast<RankedTensorType>(type);
    out.type = elementType(type);
    out.columns = tensor.isDynamicDim(tensor.getRank() - 1) ? 0 : tensor.getShape().back();
    out.rowsEach = int(rowsEach(tensor));
    if (auto rows = dyn_cast_or_null<RowsAttr>(tensor.getEncoding())) {
      out.rowAxis = axisNamed(rows.getSymbol());
    } else if (auto pairs = dyn_cast_or_null<PairsAttr>(tensor.getEncoding())) {
      out.rowAxis = axisNamed(pairs.getQuery());
      out.columnAxis = axisNamed(pairs.getKey());
    } else {
      out.rowAxis = isa_and_nonnull<PerSequenceAttr>(tensor.getEncoding()) ? BURIN_AXIS_SEQUENCE : BURIN_AXIS_ONE;
    }
  }

  int streamNamed(StringAttr symbol) const {
    for (auto [index, stream] : llvm::enumerate(plan_.streams))
      if (stream.name == symbol.getValue())
        return index;
    llvm_unreachable("derive_step lists every stream");
  }

  void addEntry(func::FuncOp entry) {
    auto symbol = entry->getAttrOfType<StringAttr>(attribute::stream);
    if (!symbol) {
      plan_.forward = entryOf(entry);
      return;
    }
    PlanStream &stream = plan_.streams[streamNamed(symbol)];
    if (entry->hasAttr(attribute::many)) {
      stream.many = entryOf(entry);
      stream.mostRows = integer(entry, attribute::mostRows);
    } else {
      stream.one = entryOf(entry);
      stream.capacity = integer(entry, attribute::capacity);
      stream.positionEnd = integer(entry, attribute::positionEnd);
    }
  }

  PlanEntry entryOf(func::FuncOp entry) {
    PlanEntry planned;
    entry_ = entry;
    inputs_.clear();
    outputs_.clear();
    for (BlockArgument argument : entry.getArguments()) {
      if (isHidden(argument))
        continue;
      inputs_[argument] = planned.inputs.size();
      PlanTensor &tensor = planned.inputs.emplace_back();
      describeShape(argument.getType(), tensor);
      tensor.name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute::name).str();
      tensor.limit = idLimitOf(argument);
    }
    for (auto [index, value] : llvm::enumerate(entry.getBody().front().getTerminator()->getOperands())) {
      outputs_[value] = index;
      PlanTensor &tensor = planned.outputs.emplace_back();
      describeShape(value.getType(), tensor);
      tensor.name = entry.getResultAttrOfType<StringAttr>(index, attribute::name).str();
    }
    for (auto state : entry.getOps<StateOp>())
      addStateValue(state);
    for (auto call : entry.getOps<func::CallOp>()) {
      planned.calls.push_back(callOf(call));
      // On a GPU nothing is left out: to look at a signal, the host would wait for what the device has under way. The
      // bits are the same, as a closed row is selected.
      if (!plan_.target->device.empty())
        planned.calls.back().guard = -1;
      else if (call->hasAttr(attribute::gate))
        addGuard(call, planned);
      for (const PlanArgument &argument : planned.calls.back().arguments)
        planned.usesPositions |= argument.kind == BURIN_ARG_POSITIONS;
    }
    auto bytes = entry->getAttrOfType<DenseI64ArrayAttr>(attribute::scratchRowBytes);
    planned.scratchRowBytes.assign(bytes.asArrayRef().begin(), bytes.asArrayRef().end());
    return planned;
  }

  /// An argument that the runtime fills in.
  bool isHidden(BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    return entry_.getArgAttr(index, attribute::positions) || entry_.getArgAttr(index, attribute::count);
  }

  void addGuard(func::CallOp call, PlanEntry &planned) {
    size_t number = integer(call, attribute::gate);
    planned.guards.resize(std::max(planned.guards.size(), number + 1));
    for (Operation &op : module_.lookupSymbol<func::FuncOp>(call.getCallee()).getBody().front())
      if (auto gate = dyn_cast<GuardedOpInterface>(op)) {
        auto signal = cast<BlockArgument>(gate->getOperand(gate.getSignalOperand())); // form_kernels leaves it outside
        planned.guards[number] = {argumentOf(call.getOperand(signal.getArgNumber())), gate.getOpenAbove(),
                                  guardOf(call)};
      }
  }

  static int guardOf(func::CallOp call) {
    auto guard = call->getAttrOfType<IntegerAttr>(attribute::guard);
    return guard ? int(guard.getInt()) : -1;
  }

  void addStateValue(StateOp state) {
    for (const PlanStateValue &known : plan_.stateValues)
      if (known.name == state.getName())
        return; // of another entry, too
    auto type = cast<RankedTensorType>(state.getType());
    auto cache = dyn_cast_or_null<CacheAttr>(type.getEncoding());
    PlanStateValue value;
    value.name = state.getName().str();
    value.type = elementType(type);
    value.stream = streamNamed(state->getAttrOfType<StringAttr>(attribute::stream));
    value.tile = cache ? int(cache.getTile()) : 0;
    value.rows = cache ? cache.getMax() : 1;
    value.window = cache ? cache.getWindow() : 0;
    value.features = type.getShape().back();
    value.offset = int64_t(*state.getOffset());
    value.bytes = storageElements(type) * type.getElementTypeBitWidth() / 8;
    plan_.stateValues.push_back(value);
  }

  PlanCall callOf(func::CallOp call) {
    PlanCall planned;
    auto kernel = module_.lookupSymbol<func::FuncOp>(call.getCallee());
    planned.kernel = kernel.getName().str();
    planned.guard = guardOf(call);
    planned.perSequence =
        runsPerSequence(*kernelClassNamed(kernel->getAttrOfType<StringAttr>(attribute::kernel).getValue()));
    planned.arguments.push_back({.kind = BURIN_ARG_CONTEXT});
    if (int64_t bytes = integer(kernel, attribute::blobBytes)) {
      int64_t blob = integer(call, attribute::blob);
      for (const WeightView &view : weightViewsOf(kernel))
        planned.arguments.push_back(
            {.kind = BURIN_ARG_WEIGHTS, .type = view.planType, .columns = bytes / view.elementBytes, .offset = blob});
      addSegments(kernel, call, blob);
    }
    for (auto [index, operand] : llvm::enumerate(call.getOperands()))
      if (!kernel.getArgAttr(index, attribute::weightOffset))
        planned.arguments.push_back(argumentOf(operand));
    if (takesFirstTile(kernel, target_))
      planned.arguments.push_back({.kind = BURIN_ARG_FIRST_TILE});
    for (Value result : call.getResults())
      planned.arguments.push_back(argumentOf(result));
    SmallVector<Value> bindings(call.getOperands());
    addStateWrites(kernel, bindings, planned);
    if (!entry_->hasAttr(attribute::stream)) // what a stream takes at a time, its caller's thread computes
      decideSplit(kernel, target_, planned);
    return planned;
  }

  PlanArgument argumentOf(Value value) {
    PlanArgument argument;
    auto type = cast<RankedTensorType>(value.getType());
    if (auto state = value.getDefiningOp<StateOp>()) {
      argument.kind = BURIN_ARG_STATE;
      argument.type = elementType(type);
      argument.columns = storageElements(type);
      argument.offset = *state.getOffset();
      return argument;
    }
    describeShape(type, argument);
    if (type.getElementType().isInteger(64)) {
      unsigned index = cast<BlockArgument>(value).getArgNumber();
      auto count = entry_.getArgAttrOfType<StringAttr>(index, attribute::count);
      auto stream = entry_->getAttrOfType<StringAttr>(attribute::stream);
      argument.kind = count ? BURIN_ARG_COUNT : type.isDynamicDim(0) ? BURIN_ARG_POSITIONS : BURIN_ARG_POSITION;
      argument.index = count ? streamNamed(count) : stream ? streamNamed(stream) : 0;
    } else if (auto input = inputs_.find(value); input != inputs_.end()) {
      argument.kind = BURIN_ARG_INPUT;
      argument.index = input->second;
    } else if (auto output = outputs_.find(value); output != outputs_.end()) {
      argument.kind = BURIN_ARG_OUTPUT;
      argument.index = output->second;
    } else {
      auto result = cast<OpResult>(value);
      argument.kind = BURIN_ARG_SCRATCH;
      argument.offset =
          result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(attribute::scratch)[result.getResultNumber()];
    }
    return argument;
  }

  /// What the kernel writes besides its results, in order: ops with a side effect write the state that they read.
  void addStateWrites(func::FuncOp kernel, ArrayRef<Value> bindings, PlanCall &planned) {
    for (Operation &op : kernel.getBody().front()) {
      SmallVector<Value> operands;
      for (Value operand : op.getOperands()) {
        auto argument = dyn_cast<BlockArgument>(operand);
        operands.push_back(argument ? bindings[argument.getArgNumber()] : Value());
      }
      if (auto call = dyn_cast<func::CallOp>(op)) {
        addStateWrites(module_.lookupSymbol<func::FuncOp>(call.getCallee()), operands, planned);
        continue;
      }
      if (isa<func::ReturnOp>(op) || isMemoryEffectFree(&op))
        continue;
      for (Value operand : operands)
        if (auto state = operand ? operand.getDefiningOp<StateOp>() : StateOp()) {
          PlanArgument write = argumentOf(state);
          auto cache = dyn_cast_or_null<CacheAttr>(cast<RankedTensorType>(state.getType()).getEncoding());
          if (cache && !cast<RankedTensorType>(op.getOperand(0).getType()).isDynamicDim(0)) { // one row, at its place
            write.kind = BURIN_ARG_STATE_ROW;
            write.index = streamNamed(state->getAttrOfType<StringAttr>(attribute::stream));
            write.tile = cache.getTile();
            write.ring = cache.getWindow() ? cache.getMax() : 0;
            write.columns = featuresOf(state.getType());
            write.rowAxis = BURIN_AXIS_ONE;
          }
          planned.arguments.push_back(write);
        }
    }
  }

  int parameterNumber(ParameterOp parameter) {
    std::string name = parameter.getName().str();
    auto [known, isNew] = numbers_.try_emplace(name, int(numbers_.size()));
    if (isNew) {
      parameterNames_.push_back(name);
      ArrayRef<int64_t> shape = cast<RankedTensorType>(parameter.getType()).getShape();
      parameters_[name] = {name, {shape.begin(), shape.end()}};
    }
    return known->second;
  }

  /// How each parameter that this call reads gets into its blob, once per blob.
  void addSegments(func::FuncOp kernel, func::CallOp call, int64_t blob) {
    bool isNew = packed_.try_emplace(blob, true).second;
    for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
      auto offset = kernel.getArgAttrOfType<IntegerAttr>(index, attribute::weightOffset);
      if (!offset)
        continue;
      auto concatenate = operand.getDefiningOp<ConcatenateOp>();
      SmallVector<Value> parts = concatenate ? SmallVector<Value>(concatenate.getParts()) : SmallVector<Value>{operand};
      auto panel = kernel.getArgAttrOfType<IntegerAttr>(index, attribute::panel);
      bool outIn = panel && kernel.getArgAttr(index, attribute::outIn);
      Precision precision = precisionOfArgument(kernel, index);
      int64_t column = 0;
      for (Value part : parts) {
        ArrayRef<int64_t> shape = cast<RankedTensorType>(part.getType()).getShape();
        PlanSegment segment{parameterNumber(part.getDefiningOp<ParameterOp>()), BURIN_PACK_VECTOR};
        if (panel) {
          segment.layout = precision == Precision::BFloat16 || precision == Precision::BFloat16Dot
                               ? BURIN_PACK_PANELS_BF16
                           : precision == Precision::Int8 ? BURIN_PACK_PANELS_INT8
                                                          : BURIN_PACK_PANELS;
          segment.transposed = outIn;
          segment.panel = panel.getInt();
          segment.rows = shape[outIn ? 1 : 0];
        } else if (shape.size() == 2) {
          segment.layout = BURIN_PACK_ROWS;
        }
        segment.column = column;
        segment.destination = blob + offset.getInt() * 4;
        segment.terms = precision == Precision::BFloat16Dot ? PackedPanels::bfloatTerms : 1;
        if (segment.layout == BURIN_PACK_PANELS_INT8) {
          ArrayRef<int64_t> whole = cast<RankedTensorType>(operand.getType()).getShape();
          PackedPanels packed(target_, precision, whole[outIn ? 1 : 0], whole[outIn ? 0 : 1], segment.panel);
          segment.terms = target_.integerDot.terms;
          segment.group = int(packed.groups.size);
          segment.columns = packed.columns;
          segment.scales = segment.destination + packed.scales * 4;
          segment.sums = segment.destination + packed.sums * 4;
          segment.corrections = packed.corrections ? segment.destination + packed.corrections * 4 : -1;
        }
        column += shape.size() == 1 ? shape[0] : shape[outIn ? 0 : 1];
        if (isNew)
          plan_.segments.push_back(segment);
      }
    }
  }

  ModuleOp module_;
  const Target &target_;
  ModelPlan &plan_;
  func::FuncOp entry_; // the one at work
  DenseMap<Value, int> inputs_, outputs_;
  DenseMap<int64_t, bool> packed_;
  llvm::StringMap<int> numbers_;
  llvm::StringMap<PlanParameter> parameters_;
  std::vector<std::string> parameterNames_;
};

std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

} // namespace

ModelPlan makePlan(ModuleOp module, const Target &target) {
  ModelPlan plan;
  plan.name = module.getName()->str();
  plan.target = &target;
  plan.fingerprint = llvm::xxh3_64bits(textOf(module) + target.name.str());
  PlanMaker(module, target, plan).run();
  return plan;
}

std::vector<KernelText> kernelsOf(ModuleOp module) {
  std::vector<KernelText> kernels;
  llvm::StringMap<bool> seen;
  for (func::FuncOp entry : entriesOf(module))
    for (auto call : entry.getOps<func::CallOp>()) {
      if (!seen.try_emplace(call.getCallee(), true).second)
        continue;
      auto kernel = module.lookupSymbol<func::FuncOp>(call.getCallee());
      OwningOpRef<ModuleOp> alone = ModuleOp::create(UnknownLoc::get(module.getContext()));
      OpBuilder builder = OpBuilder::atBlockEnd(alone->getBody());
      auto add = [&](auto &&self, func::FuncOp function, StringRef name) -> void {
        auto copy = cast<func::FuncOp>(builder.clone(*function));
        copy.setName(name);
        int groups = 0;
        for (auto nested : copy.template getOps<func::CallOp>()) {
          // Callees are numbered by their place in this kernel, so that the text says nothing of the rest of the model.
          std::string callee = nested.getCallee().str(), local = "group_" + std::to_string(groups++);
          nested.setCallee(local);
          self(self, module.lookupSymbol<func::FuncOp>(callee), local);
        }
      };
      add(add, kernel, "kernel");
      kernels.push_back(
          {kernel.getName().str(), kernel->getAttrOfType<StringAttr>(attribute::kernel).str(), textOf(*alone)});
    }
  return kernels;
}

} // namespace burin
