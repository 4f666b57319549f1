// Runs passes on textual IR, for tests: each pass by its flag, or those that know no target as one.
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/passes.h"
#include "llvm/Support/CommandLine.h"

static llvm::cl::extrahelp example("\nExample:\n  burin-opt --burin-graph policy.mlir\n");

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<burin::EncoderDialect, mlir::func::FuncDialect>();
  burin::registerBurinPasses();
  mlir::registerTransformsPasses();
  mlir::PassPipelineRegistration<>(
      "burin-graph", "the passes that know no target: verify_graph, canonicalize, inline_gates, derive_step",
      [](mlir::OpPassManager &passes) {
        passes.addPass(burin::createVerifyGraph());
        passes.addPass(mlir::createCanonicalizerPass());
        passes.addPass(burin::createInlineGates());
        passes.addPass(burin::createDeriveStep());
      });
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Burin's passes on textual IR\n", registry));
}
