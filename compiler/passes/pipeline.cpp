// The one list of passes. Each line says why it stands there.
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/passes.h"

using namespace mlir;

namespace burin {

void buildPipeline(OpPassManager &passes, llvm::StringRef target, llvm::StringRef panels, llvm::StringRef choices) {
  passes.addPass(createVerifyGraph());                 // first: the rest trusts the graph
  passes.addPass(createCanonicalizerPass());           // before derive_step: what folds away needs no state
  passes.addPass(createInlineGates());                 // after it: what a region holds stays apart from the rest
  passes.addPass(createDeriveStep());                  // before kernels: it reads ops, not kernels
  passes.addPass(createAllocateState({target.str()})); // before kernels: a kernel's operands have their final layout
  FormKernelsOptions form;                             //
  form.target = target.str();                          //
  form.choices = choices.str();                        //
  passes.addPass(createFormKernels(form));             //
  passes.addPass(createShareKernels());                // before weights: shared kernels share one blob layout
  passes.addPass(createPlanMemory());                  // after sharing: the calls are final
  passes.addPass(createPackWeights({target.str(), panels.str()})); //
}

llvm::SmallVector<func::FuncOp> entriesOf(ModuleOp module) {
  llvm::SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (!isKernel(function))
      entries.push_back(function);
  return entries;
}

int64_t idLimitOf(Value ids) {
  int64_t limit = 0;
  for (OpOperand &use : ids.getUses()) {
    int64_t its = 0;
    if (auto lookup = dyn_cast<LookupOpInterface>(use.getOwner()))
      its = use.getOperandNumber() == 0 ? lookup.getIdLimit() : 0;
    else if (auto call = dyn_cast<func::CallOp>(use.getOwner()))
      its = idLimitOf(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr())
                          .getArgument(use.getOperandNumber()));
    if (its && (!limit || its < limit))
      limit = its;
  }
  return limit;
}

bool isKernel(func::FuncOp function) { return function->hasAttr(attribute::kernel); }

} // namespace burin
