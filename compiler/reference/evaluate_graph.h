// Evaluates a graph in double precision, op by op, with what each op's room says it means: the reference that every
// compiled kernel is compared with. Slow and plain on purpose; it shares no code with the kernels.
#pragma once

#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace burin {

struct ReferenceInputs {
  llvm::StringMap<HostTensor> parameters; // by parameter name
  llvm::StringMap<HostTensor> inputs;     // by input name; [rows, features], masks [queries, keys]
  llvm::StringMap<int64_t> rows;          // by time symbol: what positions count where no input says it
};

/// Told of an op when it is evaluated: its operands and its result.
using ReferenceObserver = llvm::function_ref<void(mlir::Operation *, llvm::ArrayRef<HostTensor>, const HostTensor &)>;

/// The results of `forward` on one sequence. The graph may be the user's or canonicalized, not yet split into kernels.
llvm::Expected<llvm::SmallVector<HostTensor>> evaluateGraph(mlir::func::FuncOp forward, const ReferenceInputs &given,
                                                            ReferenceObserver observe = {});

} // namespace burin
