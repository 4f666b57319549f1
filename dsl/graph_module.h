// From a declared graph to MLIR, for the tool; programs that declare graphs do not need it.
#pragma once

#include "dsl/encoder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <optional>

namespace burin {

/// A module and the context it lives in. Single-threaded; whoever runs passes may enable more.
struct GraphModule {
  std::unique_ptr<mlir::MLIRContext> context; // outlives the module: members die in reverse order
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// The graph as `module @<name>` with `func.func @forward`, every op at the user's line; nothing if the graph has
/// errors. Uses the graph up: no tensor of it may be used any more.
std::optional<GraphModule> takeModule(Graph &&graph);

} // namespace burin
