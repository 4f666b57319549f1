// Kernels and tables as one LLVM module, for targets whose object format knows no partial link with renamed and hidden
// symbols: WebAssembly, whose objects llvm-objcopy does not rename. There a row of targets.def names no linker, kernels
// come from their workers as bitcode, and names are settled before there is an object.
//
// Rejected: a linker's --wrap, which leaves its own prefix on the hooks and cannot hide a symbol; and this way for
// every target, which would take the choice of instructions from the LLVM that Halide brings and tunes its output for.
#pragma once

#include "emit/object.h"
#include "llvm/IR/Module.h"

namespace burin {

/// True where the target's kernels are compiled to bitcode and linked as modules.
inline bool linksModules(const Target &target) { return target.linker.empty(); }

/// Links the kernels' bitcode into `module`, gives Halide's hooks the runtime's names, and makes everything internal
/// but the `visible` functions.
llvm::Error linkModules(llvm::Module &module, llvm::ArrayRef<KernelObject> kernels,
                        llvm::ArrayRef<std::string> visible);

} // namespace burin
