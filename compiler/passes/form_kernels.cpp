// form_kernels: which ops become one kernel.
//
// A kernel is one anchor (contract, attend, row reduce, pool) with its prologue and epilogue. It stands after
// derive_step and allocate_state, which read and type ops, and before everything that counts calls. What it leaves:
// entries of parameters, states and calls; a private function per kernel.
//
//   1. Ops are taken in order. An elementwise op joins, as epilogue, the kernel that made one of its operands, when
//      nothing else reads that operand: bias, activation, residual and norm end up behind the contract before them.
//   2. An elementwise kernel that only the joining op reads (positions, say) comes along.
//   3. A view (an op that only chooses what its consumer reads) is computed inside each kernel that reads it.
//   4. Each kernel becomes a function; what it reads from outside becomes its arguments.
//   5. What only a gate's closed rows would not read is marked: the driver skips it where every row is closed.
//   6. A stream's row whose kernels are small becomes one kernel, `whole`: below the limit, a call costs more than its
//      work. Not where there is a gate: its work is to be left out; nor on a GPU, where what passes between the groups
//      of one kernel would be allocated anew for every call.
//
// Whether norms and residuals join a contract, and whether a row is one kernel, a record of the tuning database may
// choose otherwise, for each entry (schedules/choices.def). Ops compute the same in any kernel, bit for bit.
//
// Rejected: choosing by a general fusion search. The graphs are encoders; these rules give the kernels that one would
// draw by hand, and their reasons fit on a page.
#include "mlir/IR/IRMapping.h"
#include "passes/passes.h"
#include "schedules/choices.h"
#include "schedules/targets.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/passes.h.inc"

namespace {

/// Kernels in a `whole`, at most: four blocks of four kernels, embedding, pool and head. Derived: beyond that, the code
/// of one function outgrows the first-level instruction cache.
constexpr int64_t maxWholeKernels = 20;

struct Kernel {
  llvm::SetVector<Operation *> ops; // in program order
  KernelClass kernelClass;
  bool hasRowReduce = false;
  bool gone = false; // merged into another

  Operation *last() const { return ops.back(); }
};

struct FormKernels : impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;
  int kernelCount = 0;
  bool normJoins = true, residualJoins = true; // a contract, in the entry at work

  void runOnOperation() override {
    kernelCount = 0;
    std::string error;
    std::optional<std::map<std::string, GraphChoices>> chosen = parseChoices(choices, error);
    if (!chosen) {
      getOperation().emitError("choices: " + error);
      return signalPassFailure();
    }
    for (auto &[entry, its] : *chosen)
      if (auto function = getOperation().lookupSymbol<func::FuncOp>(entry); !function || isKernel(function)) {
        getOperation().emitError("choices: the graph has no entry '" + entry + "'");
        return signalPassFailure();
      }
    const Target *row = findTarget(target);
    bool onDevice = row && !row->device.empty();
    for (func::FuncOp entry : entriesOf(getOperation())) {
      bool takesRow = entry->hasAttr(attribute::stream) && !entry->hasAttr(attribute::many);
      const GraphChoices &its = (*chosen)[entry.getName().str()];
      bool isSmall = its.get(Choice::whole_step).value_or(workOf(entry) <= wholeLimit);
      normJoins = its.get(Choice::norm_in_contract).value_or(true);
      residualJoins = its.get(Choice::residual_in_contract).value_or(true);
      outline(entry, group(entry));
      bool hasGates = markGates(entry);
      int64_t calls = llvm::range_size(entry.getOps<func::CallOp>());
      if (takesRow && !onDevice && !hasGates && isSmall && calls > 1 && calls <= maxWholeKernels)
        makeWhole(entry);
    }
  }

  /// Multiply-adds of the contracts over one row.
  static int64_t workOf(func::FuncOp entry) {
    int64_t work = 0;
    entry.walk([&](KernelOpInterface op) {
      if (int weight = op.getPanelOperand(); weight >= 0)
        work += cast<ShapedType>(op->getOperand(weight).getType()).getNumElements();
    });
    return work;
  }

  // ---- Steps 1 to 3: grouping
  // ----------------------------------------------------------------------------------------

  SmallVector<std::unique_ptr<Kernel>> group(func::FuncOp entry) {
    SmallVector<std::unique_ptr<Kernel>> kernels;
    DenseMap<Operation *, Kernel *> kernelOf;
    for (Operation &op : entry.getBody().front()) {
      auto kernelOp = dyn_cast<KernelOpInterface>(op);
      if (!kernelOp || (kernelOp.isView() && !mustBeStored(&op)))
        continue;
      if (op.getNumResults() == 0 && !kernels.empty() && kernels.back()->last()->getNumResults() == 0) {
        kernels.back()->ops.insert(&op); // what only writes is one kernel
        continue;
      }
      if (Kernel *kernel = kernelToJoin(kernelOp, kernelOf)) {
        for (Value operand : op.getOperands())
          if (Kernel *other = elementwiseProducer(operand, kernelOf); other && other != kernel)
            absorb(*kernel, *other, kernelOf);
        kernel->ops.insert(&op);
        kernel->hasRowReduce |= kernelOp.getKernelClass() == KernelClass::RowReduce;
        if (kernel->kernelClass == KernelClass::Pointwise)
          kernel->kernelClass = kernelOp.getKernelClass();
        kernelOf[&op] = kernel;
        continue;
      }
      kernels.push_back(std::make_unique<Kernel>());
      kernels.back()->ops.insert(&op);
      kernels.back()->kernelClass = kernelOp.getKernelClass();
      kernels.back()->hasRowReduce = kernelOp.getKernelClass() == KernelClass::RowReduce;
      kernelOf[&op] = kernels.back().get();
    }
    llvm::erase_if(kernels, [](auto &kernel) { return kernel->gone; });
    llvm::sort(kernels, [](auto &a, auto &b) { return a->last()->isBeforeInBlock(b->last()); });
    for (auto &kernel : kernels)
      pullViews(*kernel);
    return kernels;
  }

  /// True where the driver reads a result of the op: it is returned, or a signal.
  static bool mustBeStored(Operation *op) {
    return llvm::any_of(op->getUses(), [](OpOperand &use) {
      auto gate = dyn_cast<GuardedOpInterface>(use.getOwner());
      return isa<func::ReturnOp>(use.getOwner()) || (gate && gate.getSignalOperand() == use.getOperandNumber());
    });
  }

  /// The kernel that made `value`, when only one reader exists and more may follow in that kernel.
  static Kernel *openProducer(Value value, const DenseMap<Operation *, Kernel *> &kernelOf) {
    Kernel *kernel = value.getDefiningOp() ? kernelOf.lookup(value.getDefiningOp()) : nullptr;
    if (!kernel || !value.hasOneUse() || kernel->last() != value.getDefiningOp() ||
        runsPerSequence(kernel->kernelClass))
      return nullptr;
    return kernel;
  }

  static Kernel *elementwiseProducer(Value value, const DenseMap<Operation *, Kernel *> &kernelOf) {
    Kernel *kernel = openProducer(value, kernelOf);
    return kernel && kernel->kernelClass == KernelClass::Pointwise ? kernel : nullptr;
  }

  /// Whether an op may be computed in the kernel of a contract that made one of its operands.
  bool joinsContracts(KernelOpInterface op) const {
    bool isResidual =
        llvm::count_if(op->getOperandTypes(), [&](Type type) { return type == op->getResult(0).getType(); }) > 1;
    return op.getKernelClass() == KernelClass::RowReduce ? normJoins : !isResidual || residualJoins;
  }

  Kernel *kernelToJoin(KernelOpInterface op, const DenseMap<Operation *, Kernel *> &kernelOf) const {
    KernelClass kernelClass = op.getKernelClass();
    if (kernelClass != KernelClass::Pointwise && kernelClass != KernelClass::RowReduce)
      return nullptr;
    if (isa<GuardedOpInterface>(op.getOperation()) || op->getNumResults() == 0)
      return nullptr; // what it reads may not be there; what only writes makes nothing to go on with
    Kernel *best = nullptr;
    for (Value operand : op->getOperands()) {
      Kernel *kernel = openProducer(operand, kernelOf);
      if (!kernel || operand.getType() != op->getResult(0).getType() ||
          (kernelClass == KernelClass::RowReduce && kernel->hasRowReduce) ||
          (kernel->kernelClass == KernelClass::Contract && !joinsContracts(op)))
        continue;
      // An anchor rather than an elementwise kernel, which comes along; the later of two anchors.
      bool isAnchor = kernel->kernelClass != KernelClass::Pointwise;
      bool bestIsAnchor = best && best->kernelClass != KernelClass::Pointwise;
      if (!best || std::pair(isAnchor, best->last()->isBeforeInBlock(kernel->last())) > std::pair(bestIsAnchor, false))
        best = kernel;
    }
    return best;
  }

  static void absorb(Kernel &kernel, Kernel &other, DenseMap<Operation *, Kernel *> &kernelOf) {
    SmallVector<Operation *> ops(kernel.ops.begin(), kernel.ops.end());
    ops.append(other.ops.begin(), other.ops.end());
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    kernel.ops = llvm::SetVector<Operation *>(ops.begin(), ops.end());
    for (Operation *op : other.ops)
      kernelOf[op] = &kernel;
    other.gone = true;
  }

  static void pullViews(Kernel &kernel) {
    SmallVector<Operation *> pending(kernel.ops.begin(), kernel.ops.end());
    while (!pending.empty())
      for (Value operand : pending.pop_back_val()->getOperands())
        if (auto view = operand.getDefiningOp<KernelOpInterface>();
            view && view.isView() && !mustBeStored(view) && kernel.ops.insert(view))
          pending.push_back(view);
    SmallVector<Operation *> ops(kernel.ops.begin(), kernel.ops.end());
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    kernel.ops = llvm::SetVector<Operation *>(ops.begin(), ops.end());
  }

  // ---- Step 4: functions
  // ---------------------------------------------------------------------------------------------

  func::FuncOp makeFunction(Location location, KernelClass kernelClass, TypeRange arguments, TypeRange results) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    auto function = func::FuncOp::create(builder, location, "kernel_" + std::to_string(kernelCount++),
                                         builder.getFunctionType(arguments, results));
    function.setPrivate();
    function->setAttr(attribute::kernel, builder.getStringAttr(kernelClassName(kernelClass)));
    function.addEntryBlock();
    return function;
  }

  /// What a kernel reads from outside, in order of use. A weight that is read in two layouts, or precisions, is two
  /// arguments.
  class Inputs {
  public:
    void add(OpOperand &use) { inputs_.insert({use.get(), layoutOf(use)}); }
    SmallVector<Value> values() const {
      return llvm::map_to_vector(inputs_, [](const auto &input) { return input.first; });
    }
    /// The argument of `function` that stands for what `use` reads.
    Value argumentFor(OpOperand &use, func::FuncOp function) const {
      auto place = llvm::find(inputs_, std::pair<Value, int>(use.get(), layoutOf(use)));
      return place == inputs_.end() ? Value() : function.getArgument(place - inputs_.begin());
    }

  private:
    static constexpr int plain = 0; // otherwise panels: a number for each order in the file and precision

    static int layoutOf(OpOperand &use) {
      if (auto op = dyn_cast<KernelOpInterface>(use.getOwner()))
        return op.getPanelOperand() != int(use.getOperandNumber()) ? plain
                                                                   : 1 + op.panelsAreOutIn() + 2 * int(precisionOf(op));
      auto call = dyn_cast<func::CallOp>(use.getOwner());
      auto callee =
          call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()) : func::FuncOp();
      int layout = plain;
      if (callee)
        for (OpOperand &inner : callee.getArgument(use.getOperandNumber()).getUses())
          layout = std::max(layout, layoutOf(inner));
      return layout;
    }

    llvm::SetVector<std::pair<Value, int>> inputs_;
  };

  /// The op that gives a kernel its class.
  static Operation *anchorOf(const Kernel &kernel) {
    return *llvm::find_if(kernel.ops, [&](Operation *op) {
      auto kernelOp = cast<KernelOpInterface>(op);
      return kernelOp.getKernelClass() == kernel.kernelClass && (!kernelOp.isView() || op == kernel.last());
    });
  }

  /// Copies an op into a kernel's function, without its scope: that is of one place, in shared code.
  static void copyInto(OpBuilder &inside, Operation &op, const Inputs &inputs, func::FuncOp function, IRMapping &map) {
    Operation *copy = inside.clone(op, map);
    for (auto [from, to] : llvm::zip_equal(op.getOpOperands(), copy->getOpOperands()))
      if (Value argument = inputs.argumentFor(from, function))
        to.set(argument);
    copy->removeAttr(attribute::scope);
  }

  void outline(func::FuncOp entry, ArrayRef<std::unique_ptr<Kernel>> kernels) {
    for (auto &kernel : kernels) {
      Inputs inputs;
      for (Operation *op : kernel->ops)
        for (OpOperand &use : op->getOpOperands())
          if (!use.get().getDefiningOp() || !kernel->ops.contains(use.get().getDefiningOp()))
            inputs.add(use);
      Operation *last = kernel->last();
      SmallVector<Value> values = inputs.values();
      func::FuncOp function =
          makeFunction(last->getLoc(), kernel->kernelClass, TypeRange(ValueRange(values)), last->getResultTypes());
      IRMapping map;
      OpBuilder inside = OpBuilder::atBlockEnd(&function.getBody().front());
      for (Operation *op : kernel->ops)
        copyInto(inside, *op, inputs, function, map);
      SmallVector<Value> results;
      for (Value result : last->getResults())
        results.push_back(map.lookup(result));
      func::ReturnOp::create(inside, last->getLoc(), results);

      OpBuilder outside(last);
      auto call = func::CallOp::create(outside, last->getLoc(), function, values);
      if (Attribute scope = anchorOf(*kernel)->getAttr(attribute::scope))
        call->setAttr(attribute::scope, scope);
      last->replaceAllUsesWith(call);
    }
    // What went into kernels is gone from the entry.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
      if (isa<KernelOpInterface>(op) || (op.use_empty() && isa<ParameterOp, ConcatenateOp, StateOp>(op)))
        op.erase();
  }

  // ---- Step 5: gates
  // -------------------------------------------------------------------------------------------------

  /// Numbers the gates of an entry, from the last, and marks each call whose results lead only to operands that closed
  /// rows do not read. Returns whether there are any.
  static bool markGates(func::FuncOp entry) {
    Builder builder(entry.getContext());
    auto module = entry->getParentOfType<ModuleOp>();
    int64_t gates = 0;
    SmallVector<func::CallOp> calls(entry.getOps<func::CallOp>());
    for (func::CallOp call : llvm::reverse(calls)) {
      // The one guard of everything that reads this call's results; none where it also writes.
      std::optional<int64_t> guard;
      bool always = call->use_empty() || writes(module.lookupSymbol<func::FuncOp>(call.getCallee()));
      for (OpOperand &use : call->getUses()) {
        IntegerAttr its = guardOfUse(use, module);
        if (!its || (guard && *guard != its.getInt()))
          always = true;
        else
          guard = its.getInt();
      }
      if (!always)
        call->setAttr(attribute::guard, builder.getI64IntegerAttr(*guard));
      if (gateIn(module.lookupSymbol<func::FuncOp>(call.getCallee())))
        call->setAttr(attribute::gate, builder.getI64IntegerAttr(gates++));
    }
    return gates > 0;
  }

  static GuardedOpInterface gateIn(func::FuncOp kernel) {
    for (Operation &op : kernel.getBody().front())
      if (auto gate = dyn_cast<GuardedOpInterface>(op))
        return gate;
    return {};
  }

  static bool writes(func::FuncOp kernel) {
    return llvm::any_of(kernel.getBody().front(), [](Operation &op) { return !isMemoryEffectFree(&op); });
  }

  /// The guard under which a call reads an operand: that of the gate in it, where only closed rows do not read the
  /// operand, or else the call's own. Null: it always does.
  static IntegerAttr guardOfUse(OpOperand &use, ModuleOp module) {
    Operation *reader = use.getOwner();
    if (auto call = dyn_cast<func::CallOp>(reader)) {
      auto kernel = module.lookupSymbol<func::FuncOp>(call.getCallee());
      GuardedOpInterface gate = gateIn(kernel);
      Value argument = kernel.getArgument(use.getOperandNumber());
      if (gate && argument.hasOneUse() && gate->getOperand(gate.getGuardedOperand()) == argument)
        return call->getAttrOfType<IntegerAttr>(attribute::gate);
    }
    return reader->getAttrOfType<IntegerAttr>(attribute::guard);
  }

  // ---- Step 6: whole
  // -------------------------------------------------------------------------------------------------

  void makeWhole(func::FuncOp entry) {
    Inputs inputs;
    SmallVector<func::CallOp> calls(entry.getOps<func::CallOp>());
    for (func::CallOp call : calls)
      for (OpOperand &use : call->getOpOperands())
        if (!use.get().getDefiningOp<func::CallOp>())
          inputs.add(use);
    Operation *end = entry.getBody().front().getTerminator();
    SmallVector<Value> values = inputs.values();
    func::FuncOp whole =
        makeFunction(entry.getLoc(), KernelClass::Whole, TypeRange(ValueRange(values)), end->getOperandTypes());
    IRMapping map;
    OpBuilder inside = OpBuilder::atBlockEnd(&whole.getBody().front());
    for (func::CallOp call : calls)
      copyInto(inside, *call, inputs, whole, map);
    inside.clone(*end, map);

    OpBuilder outside(end);
    auto call = func::CallOp::create(outside, entry.getLoc(), whole, values);
    end->setOperands(call.getResults());
    for (func::CallOp old : llvm::reverse(calls))
      old.erase();
  }
};

} // namespace
} // namespace burin
