// The passes and their one order.
#pragma once

#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace burin {

#define GEN_PASS_DECL
#include "passes/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/passes.h.inc"

/// All passes from a user's graph to a module that can be emitted for the target row of that name. `panels` and
/// `choices` are the options of pack_weights and form_kernels: what is tuned.
void buildPipeline(mlir::OpPassManager &passes, llvm::StringRef target, llvm::StringRef panels = "",
                   llvm::StringRef choices = "");

/// The entry functions of a model, in order: forward, then those of its streams.
llvm::SmallVector<mlir::func::FuncOp> entriesOf(mlir::ModuleOp module);

/// What the ops that look `ids` up in a table take: ids are at least 0 and below this, the smallest of their limits. 0:
/// nothing looks them up. Calls of kernels are looked into.
int64_t idLimitOf(mlir::Value ids);

/// True for a function that form_kernels made.
bool isKernel(mlir::func::FuncOp function);

} // namespace burin
