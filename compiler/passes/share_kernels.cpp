// share_kernels: kernels with equal signatures and bodies are emitted once. Depth then costs calls, not code.
//
// It stands after form_kernels and before pack_weights: kernels that are one have one layout of weights. Kernels that
// other kernels call (the groups of a `whole`) are compared before their callers.
#include "passes/passes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_SHAREKERNELS
#include "passes/passes.h.inc"

namespace {

struct ShareKernels : impl::ShareKernelsBase<ShareKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<func::FuncOp> known;
    SmallVector<func::FuncOp> kernels(llvm::make_filter_range(module.getOps<func::FuncOp>(), isKernel));
    llvm::stable_sort(kernels, [](func::FuncOp a, func::FuncOp b) { return callsOthers(a) < callsOthers(b); });
    for (func::FuncOp kernel : kernels) {
      func::FuncOp &first = known[bodyOf(kernel)];
      if (!first) {
        first = kernel;
        continue;
      }
      (void)SymbolTable::replaceAllSymbolUses(kernel, first.getSymNameAttr(), module);
      kernel.erase();
    }
    // Kernels that nobody calls any more, callers before callees.
    for (bool changed = true; changed;) {
      changed = false;
      for (func::FuncOp kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
        if (isKernel(kernel) && SymbolTable::symbolKnownUseEmpty(kernel, module)) {
          kernel.erase();
          changed = true;
        }
    }
    number(module);
  }

  static bool callsOthers(func::FuncOp kernel) { return !kernel.getOps<func::CallOp>().empty(); }

  /// The function as text, without its name: equal text, equal kernel.
  static std::string bodyOf(func::FuncOp kernel) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    std::string name = kernel.getName().str();
    kernel.setName("kernel");
    kernel.print(stream, OpPrintingFlags().useLocalScope());
    kernel.setName(name);
    return text;
  }

  /// Names the kernels 0, 1, 2 … again, in order, so that names do not depend on what was merged.
  static void number(ModuleOp module) {
    int count = 0;
    SmallVector<func::FuncOp> kernels(llvm::make_filter_range(module.getOps<func::FuncOp>(), isKernel));
    for (StringRef stem : {"renamed_", "kernel_"}) { // twice: a name may still be another's
      count = 0;
      for (func::FuncOp kernel : kernels) {
        std::string name = (stem + Twine(count++)).str();
        (void)SymbolTable::replaceAllSymbolUses(kernel, StringAttr::get(module.getContext(), name), module);
        kernel.setName(name);
      }
    }
  }
};

} // namespace
} // namespace burin
