// What every op of the dialect promises. Each method is a room's own to write; none has a default, so that an op that
// forgets one fails to link, by name, instead of inheriting a guess.
#ifndef BURIN_INTERFACES_TD
#define BURIN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def StreamableOpInterface : OpInterface<"StreamableOpInterface"> {
  let cppNamespace = "::burin";
  let description = [{How the op sees time, one rule per operand, as data. `derive_step` reads nothing else.}];
  let methods = [InterfaceMethod<"One rule per operand.", "::llvm::SmallVector<::burin::StreamRule>", "getStreamRules">];
}

def ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::burin";
  let description = [{What the op computes, in double precision, written to be read. Never shares a formula with the kernel.}];
  let methods = [InterfaceMethod<"Evaluates the op on host tensors; rows are the rows of one sequence.",
                                 "::burin::HostTensor", "evaluate", (ins "::llvm::ArrayRef<::burin::HostTensor>":$operands)>];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::burin";
  let description = [{How the op is computed: a Halide algorithm without a schedule. Targets own schedules.}];
  let methods = [
    InterfaceMethod<"Defines the op's Func in the builder.", "void", "buildKernel", (ins "::burin::KernelBuilder &":$kernel)>,
    InterfaceMethod<"The family of schedules that serves the op.", "::burin::KernelClass", "getKernelClass">,
    InterfaceMethod<"The operand that the kernel reads as packed panels, or -1.", "int", "getPanelOperand">,
    InterfaceMethod<"True where that operand is stored [out, in].", "bool", "panelsAreOutIn">,
    InterfaceMethod<"True where the op only chooses what its consumer reads: it costs nothing inside the kernel that reads it "
                    "and never becomes a kernel's result if that can be avoided.", "bool", "isView">,
    InterfaceMethod<"Floating-point operations that nobody can do without, given the rows of each operand: those of "
                    "products of matrices, 2 for a multiply-add; 0 for all else.",
                    "double", "getFlops", (ins "::llvm::ArrayRef<double>":$rows)>
  ];
}

def GuardedOpInterface : OpInterface<"GuardedOpInterface"> {
  let cppNamespace = "::burin";
  let description = [{
    An op that reads an operand only in rows whose signal exceeds a threshold. What is computed for that operand alone
    need not run where no row's does.
  }];
  let methods = [
    InterfaceMethod<"The operand that closed rows do not read.", "unsigned", "getGuardedOperand">,
    InterfaceMethod<"The operand with a signal for each row.", "unsigned", "getSignalOperand">,
    InterfaceMethod<"A row is open where its signal is above this.", "float", "getOpenAbove">
  ];
}

def LookupOpInterface : OpInterface<"LookupOpInterface"> {
  let cppNamespace = "::burin";
  let description = [{An op whose operand 0 is ids: what the runtime checks ids against before any kernel runs.}];
  let methods = [InterfaceMethod<"Ids are at least 0 and below this.", "int64_t", "getIdLimit">];
}

#endif
