#include "tools/graph_source.h"
#include "dialect/encoder.h"
#include "import/bert.h"
#include "import/bert_config.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/passes.h"
#include "tools/failure.h"
#include "tools/golden_case.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace burin {

std::optional<GraphModule> takeModuleOrPrint(Graph graph) {
  for (const GraphError &error : graph.errors())
    llvm::errs() << error.text() << "\n";
  return takeModule(std::move(graph));
}

struct LoadedGraph::Diagnostics {
  explicit Diagnostics(MLIRContext *context) : handler(sources, context) {}
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler;
};

void LoadedGraph::EndDiagnostics::operator()(Diagnostics *diagnostics) const { delete diagnostics; }

LoadedGraph::LoadedGraph(std::unique_ptr<MLIRContext> context) {
  graph_.context = std::move(context);
  graph_.context->loadDialect<EncoderDialect, func::FuncDialect>();
  diagnostics_.reset(new Diagnostics(graph_.context.get()));
}

llvm::Expected<LoadedGraph> LoadedGraph::verify(StringRef name) && {
  PassManager passes(graph_.context.get());
  passes.addPass(createVerifyGraph());
  if (failed(passes.run(module())))
    return failure(name + ": the graph has errors");
  return std::move(*this);
}

llvm::Expected<LoadedGraph> LoadedGraph::parse(StringRef text, StringRef name) {
  // One thread: the tool's work is in the worker processes.
  LoadedGraph graph(std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED));
  llvm::SourceMgr &sources = graph.diagnostics_->sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  graph.graph_.module = parseSourceFile<ModuleOp>(sources, graph.graph_.context.get());
  if (!graph.graph_.module)
    return failure(name + ": the graph cannot be read");
  return std::move(graph).verify(name);
}

llvm::Expected<LoadedGraph> LoadedGraph::adopt(GraphModule made, StringRef name) {
  LoadedGraph graph(std::move(made.context));
  graph.graph_.module = std::move(made.module);
  return std::move(graph).verify(name);
}

void GraphSource::addArgument(CLI::App &command, bool required) {
  if (!isOwn())
    command
        .add_option(
            "GRAPH", path_,
            "a file of textual IR with func.func @forward, a golden case, or a model's directory as `import` reads it")
        ->required(required);
}

static llvm::Expected<LoadedGraph> loadModelFolder(StringRef folder) {
  auto holds = [&](StringRef file) { return llvm::sys::fs::exists(folder + "/" + file); };
  if (!holds("config.json") && !holds("modules.json"))
    return failure(folder + ": a folder without config.json, expected a model's directory or a file of textual IR");
  llvm::Expected<ImportedBert> imported = importBert(folder);
  if (!imported)
    return imported.takeError();
  std::optional<GraphModule> graph = takeModuleOrPrint(std::move(imported->graph));
  if (!graph)
    return failure(folder + ": the graph has errors");
  return LoadedGraph::adopt(std::move(*graph), folder);
}

bool GraphSource::isModelFolder() const { return !isOwn() && llvm::sys::fs::is_directory(path_); }

llvm::Expected<std::string> GraphSource::ownWeights() const {
  if (!isModelFolder())
    return std::string();
  llvm::Expected<SentenceModules> modules = readSentenceModules(path_);
  if (!modules)
    return modules.takeError();
  llvm::SmallString<256> weights(path_);
  llvm::sys::path::append(weights, modules->encoderFolder, "model.safetensors");
  return weights.str().str();
}

llvm::Expected<LoadedGraph> GraphSource::load() const {
  if (isOwn()) {
    std::optional<GraphModule> graph = ownGraph_();
    if (!graph)
      return failure("the graph has errors");
    return LoadedGraph::adopt(std::move(*graph), "the program");
  }
  if (isModelFolder())
    return loadModelFolder(path_);
  if (StringRef(path_).ends_with(".safetensors")) {
    llvm::Expected<GoldenCase> given = GoldenCase::read(path_);
    return given ? given->buildGraph() : given.takeError();
  }
  auto text = llvm::MemoryBuffer::getFile(path_, /*IsText=*/true);
  if (!text)
    return failure(path_ + ": " + text.getError().message());
  return LoadedGraph::parse((*text)->getBuffer(), path_);
}

} // namespace burin
