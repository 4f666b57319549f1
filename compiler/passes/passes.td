// The passes, in the order in which they run (passes/pipeline.cpp). Each is this entry, a .cpp of its name and a test.
include "mlir/Pass/PassBase.td"

def VerifyGraph : Pass<"burin-verify-graph", "::mlir::ModuleOp"> {
  let summary = "everything a user can get wrong, reported at the user's line, all of it, then stop";
}
def InlineGates : Pass<"burin-inline-gates", "::mlir::ModuleOp"> {
  let summary = "the ops of a gate's region move before it";
  let dependentDialects = ["::burin::EncoderDialect"];
}
def DeriveStep : Pass<"burin-derive-step", "::mlir::ModuleOp"> {
  let summary = "from forward make an entry for each stream, and the state they need";
  let dependentDialects = ["::burin::EncoderDialect", "::mlir::func::FuncDialect"];
}
def AllocateState : Pass<"burin-allocate-state", "::mlir::ModuleOp"> {
  let summary = "all state in one flat block: a layout and an offset for each value";
  let options = [Option<"target", "target", "std::string", "\"\"", "target row that decides the layouts">];
}
def FormKernels : Pass<"burin-form-kernels", "::mlir::ModuleOp"> {
  let summary = "an anchor with its prologue and epilogue is a kernel; a small step is one";
  let options = [Option<"wholeLimit", "whole-limit", "int64_t", "131072",
                        "multiply-adds up to which a step becomes one kernel; 0 for never">,
                 Option<"target", "target", "std::string", "\"\"", "row of targets.def; empty: a processor">,
                 Option<"choices", "choices", "std::string", "\"\"",
                        "what a record chooses, by entry (schedules/choices.def): step.whole_step=0,…">];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}
def ShareKernels : Pass<"burin-share-kernels", "::mlir::ModuleOp"> {
  let summary = "equal kernels are emitted once";
}
def PlanMemory : Pass<"burin-plan-memory", "::mlir::ModuleOp"> {
  let summary = "lifetimes of intermediate buffers, offsets in one scratch arena";
}
def PackWeights : Pass<"burin-pack-weights", "::mlir::ModuleOp"> {
  let summary = "one packed layout per weight, one blob per kernel call";
  let options = [Option<"target", "target", "std::string", "\"\"", "target row that decides the panels">,
                 Option<"panels", "panels", "std::string", "\"\"",
                        "widths of panels that are tuned, in vectors, by the weight's rows and columns: 384x1536=2,…">];
}
