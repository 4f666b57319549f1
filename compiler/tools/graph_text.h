// A graph as a person would write it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace burin {

/// The module with a name for each encoding: `tensor<?x384xf32, #time>`.
std::string textOf(mlir::ModuleOp module);

} // namespace burin
