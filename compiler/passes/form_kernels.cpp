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
//   5. A step whose kernels are small becomes one kernel, `whole`: below the limit, a call costs more than its work.
//
// Rejected: choosing by a general fusion search. The graphs are encoders; these rules give the kernels that one would
// draw by hand, and their reasons fit on a page.
#include "mlir/IR/IRMapping.h"
#include "passes/passes.h"
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

  void runOnOperation() override {
    kernelCount = 0;
    for (func::FuncOp entry : entriesOf(getOperation())) {
      bool isStep = entry.getName() == "step";
      int64_t work = workOf(entry);
      outline(entry, group(entry));
      int64_t calls = llvm::range_size(entry.getOps<func::CallOp>());
      if (isStep && work <= wholeLimit && calls > 1 && calls <= maxWholeKernels)
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
      if (!kernelOp || (kernelOp.isView() && !isReturned(&op)))
        continue;
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

  static bool isReturned(Operation *op) { return llvm::any_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>); }

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

  static Kernel *kernelToJoin(KernelOpInterface op, const DenseMap<Operation *, Kernel *> &kernelOf) {
    KernelClass kernelClass = op.getKernelClass();
    if (kernelClass != KernelClass::Pointwise && kernelClass != KernelClass::RowReduce)
      return nullptr;
    Kernel *best = nullptr;
    for (Value operand : op->getOperands()) {
      Kernel *kernel = openProducer(operand, kernelOf);
      if (!kernel || operand.getType() != op->getResult(0).getType() ||
          (kernelClass == KernelClass::RowReduce && kernel->hasRowReduce))
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
        if (auto view = operand.getDefiningOp<KernelOpInterface>(); view && view.isView() && kernel.ops.insert(view))
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

  void outline(func::FuncOp entry, ArrayRef<std::unique_ptr<Kernel>> kernels) {
    for (auto &kernel : kernels) {
      llvm::SetVector<Value> inputs; // what the kernel reads from outside, in order of use
      for (Operation *op : kernel->ops)
        for (Value operand : op->getOperands())
          if (!operand.getDefiningOp() || !kernel->ops.contains(operand.getDefiningOp()))
            inputs.insert(operand);
      Operation *last = kernel->last();
      func::FuncOp function = makeFunction(last->getLoc(), kernel->kernelClass,
                                           TypeRange(ValueRange(inputs.getArrayRef())), last->getResultTypes());
      IRMapping map;
      for (auto [input, argument] : llvm::zip_equal(inputs, function.getArguments()))
        map.map(input, argument);
      OpBuilder inside = OpBuilder::atBlockEnd(&function.getBody().front());
      for (Operation *op : kernel->ops)
        inside.clone(*op, map)->removeAttr(attribute::scope); // a name of one place, in code that is shared
      func::ReturnOp::create(inside, last->getLoc(), map.lookup(last->getResult(0)));

      OpBuilder outside(last);
      auto call = func::CallOp::create(outside, last->getLoc(), function, inputs.getArrayRef());
      last->getResult(0).replaceAllUsesWith(call.getResult(0));
    }
    // What went into kernels is gone from the entry.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
      if (isa<KernelOpInterface>(op) || (op.use_empty() && isa<ParameterOp, ConcatenateOp, StateOp>(op)))
        op.erase();
  }

  // ---- Step 5: whole
  // -------------------------------------------------------------------------------------------------

  void makeWhole(func::FuncOp entry) {
    llvm::SetVector<Value> inputs;
    SmallVector<func::CallOp> calls(entry.getOps<func::CallOp>());
    for (func::CallOp call : calls)
      for (Value operand : call.getOperands())
        if (!operand.getDefiningOp<func::CallOp>())
          inputs.insert(operand);
    Operation *end = entry.getBody().front().getTerminator();
    func::FuncOp whole = makeFunction(entry.getLoc(), KernelClass::Whole, TypeRange(ValueRange(inputs.getArrayRef())),
                                      end->getOperandTypes());
    IRMapping map;
    for (auto [input, argument] : llvm::zip_equal(inputs, whole.getArguments()))
      map.map(input, argument);
    OpBuilder inside = OpBuilder::atBlockEnd(&whole.getBody().front());
    for (func::CallOp call : calls)
      inside.clone(*call, map);
    inside.clone(*end, map);

    OpBuilder outside(end);
    auto call = func::CallOp::create(outside, entry.getLoc(), whole, inputs.getArrayRef());
    end->setOperands(call.getResults());
    for (func::CallOp old : llvm::reverse(calls))
      old.erase();
  }
};

} // namespace
} // namespace burin
