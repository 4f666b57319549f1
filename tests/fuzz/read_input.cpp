#include "read_input.h"
#include "emit/compile.h"
#include "import/bert.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/passes.h"
#include "schedules/tuner/database.h"
#include "tools/golden_case.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include <fstream>

using namespace burin;

namespace burin_fuzz {

namespace {

/// Removed with the process; all that is read from files is read from here.
class Folder {
public:
  Folder() {
    llvm::SmallString<128> path;
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("burin-fuzz", path))
      llvm::report_fatal_error(("a temporary folder cannot be made: " + error.message()).c_str());
    path_ = path.str().str();
    if (std::error_code error = llvm::sys::fs::create_directory(path_ + "/1_Pooling"))
      llvm::report_fatal_error(("a temporary folder cannot be made: " + error.message()).c_str());
  }
  ~Folder() { llvm::sys::fs::remove_directories(path_); }

  std::string write(const std::string &name, llvm::StringRef bytes) const {
    std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), std::streamsize(bytes.size()));
    return path;
  }
  void remove(const std::string &name) const { llvm::sys::fs::remove(path_ + "/" + name); }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

const Folder &folder() {
  static const Folder made;
  return made;
}

Verdict refusedWith(llvm::Error error) {
  return {false, llvm::toString(std::move(error)).empty() ? "it is refused without a word" : ""};
}

} // namespace

Verdict readGraph(llvm::StringRef text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<EncoderDialect, mlir::func::FuncDialect>();
  int errors = 0;
  std::string wrong;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::success();
    ++errors;
    if (diagnostic.str().empty() || !diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
      wrong = "'" + diagnostic.str() + "' has no place";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), "graph.mlir");
  bool isGood = bool(module);
  if (isGood) {
    mlir::PassManager passes(&context);
    passes.addPass(createVerifyGraph());
    isGood = succeeded(passes.run(*module));
  }
  if (isGood && errors)
    wrong = "an error is said, and the graph is taken";
  if (isGood)
    if (llvm::Error error = runPasses(*module, *findTarget("generic-x86-64"))) {
      llvm::consumeError(std::move(error));
      isGood = false;
    }
  if (!isGood && !errors)
    wrong = "it is refused without a word";
  return {isGood, wrong};
}

Verdict readConfig(llvm::StringRef text) {
  const char *const names[] = {"config.json", "modules.json", "1_Pooling/config.json"};
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, "\n---\n", int(std::size(names)) - 1);
  for (size_t i = 0; i < std::size(names); ++i)
    if (i < parts.size())
      folder().write(names[i], parts[i]);
    else
      folder().remove(names[i]);
  llvm::Expected<ImportedBert> imported = importBert(folder().path());
  if (!imported)
    return refusedWith(imported.takeError());
  return {true, ""};
}

Verdict readCase(llvm::StringRef bytes) {
  llvm::Expected<GoldenCase> read = GoldenCase::read(folder().write("case.safetensors", bytes));
  if (!read)
    return refusedWith(read.takeError());
  llvm::Expected<LoadedGraph> graph = read->buildGraph();
  if (!graph)
    return refusedWith(graph.takeError());
  if (llvm::Error error = read->fit(signatureOf(graph->module())))
    return refusedWith(std::move(error));
  return {true, ""};
}

Verdict readDatabase(llvm::StringRef text) {
  // A record is of this compiler, whichever it is, where it says so.
  const std::string version = tuningCompilerVersion();
  std::string dated = text.str();
  for (size_t place; (place = dated.find("this compiler")) != std::string::npos;)
    dated.replace(place, 13, version);
  std::string path = folder().write("cpu.json", dated);
  std::vector<std::string> warnings;
  llvm::Expected<TuningDatabase> read = TuningDatabase::read(path, warnings);
  if (!read)
    return refusedWith(read.takeError());
  for (const std::string &warning : warnings)
    if (warning == path + ": ")
      return {false, "a record is left out without a word"};
  const bool isWhole = warnings.empty();
  warnings.clear();
  if (llvm::Error error = read->write(path))
    return {false, "what was read is not written: " + llvm::toString(std::move(error))};
  llvm::Expected<TuningDatabase> again = TuningDatabase::read(path, warnings);
  if (!again)
    return {false, "what was written is not read: " + llvm::toString(again.takeError())};
  if (!warnings.empty())
    return {false, "what was written is not read: " + warnings.front()};
  if (again->records.size() != read->records.size())
    return {false, "of " + std::to_string(read->records.size()) + " records that were written " +
                       std::to_string(again->records.size()) + " are read"};
  return {isWhole, ""};
}

} // namespace burin_fuzz
