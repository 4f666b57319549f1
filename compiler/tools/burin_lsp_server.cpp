// An editor's server for graphs as text (the Language Server Protocol on standard input and output): errors while one
// types, what an op is, where a value comes from. MLIR's library does all of it for any dialect.
#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

static llvm::cl::extrahelp example("\nExample, as the command that an editor starts for *.mlir:\n  burin-lsp-server\n");

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<burin::EncoderDialect, mlir::func::FuncDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
