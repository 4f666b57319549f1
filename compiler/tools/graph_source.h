// Where a command's graph comes from: a file of textual IR, the directory of a trained model, or the program itself
// when it is a DSL program; and the graph that it gives.
#pragma once

#include "CLI/CLI.hpp"
#include "dsl/graph_module.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>

namespace burin {

/// Makes the graph of a DSL program; nothing when it has errors, which are on stderr then.
using GraphBuilder = std::function<std::optional<GraphModule>()>;

/// The declared graph as a module; nothing when it has errors, after they were printed to stderr.
std::optional<GraphModule> takeModuleOrPrint(Graph graph);

/// A graph that passed verify_graph, so that commands may trust it. As long as it lives, what the passes say about it
/// goes to stderr, at the user's line.
class LoadedGraph {
public:
  /// Textual IR.
  static llvm::Expected<LoadedGraph> parse(llvm::StringRef text, llvm::StringRef name);
  /// What the DSL made.
  static llvm::Expected<LoadedGraph> adopt(GraphModule graph, llvm::StringRef name);

  mlir::ModuleOp module() const { return *graph_.module; }

private:
  struct Diagnostics;
  struct EndDiagnostics {
    void operator()(Diagnostics *diagnostics) const;
  };

  explicit LoadedGraph(std::unique_ptr<mlir::MLIRContext> context);
  llvm::Expected<LoadedGraph> verify(llvm::StringRef name) &&;

  GraphModule graph_; // first: the diagnostics end before the context
  std::unique_ptr<Diagnostics, EndDiagnostics> diagnostics_;
};

class GraphSource {
public:
  explicit GraphSource(GraphBuilder ownGraph) : ownGraph_(std::move(ownGraph)) {}
  explicit GraphSource(std::string path) : path_(std::move(path)) {}

  /// True for a DSL program.
  bool isOwn() const { return bool(ownGraph_); }
  /// Adds the positional GRAPH to a command, unless the graph is the program's own.
  void addArgument(CLI::App &command, bool required = true);
  bool isGiven() const { return isOwn() || !path_.empty(); }
  /// "policy.mlir " for the example of a command, or nothing.
  std::string exampleArgument() const { return isOwn() ? "" : "policy.mlir "; }
  llvm::Expected<LoadedGraph> load() const;
  /// What GRAPH names; empty for a DSL program.
  const std::string &path() const { return path_; }
  /// The file of weights in a model's directory; empty for what comes without weights.
  llvm::Expected<std::string> ownWeights() const;

private:
  bool isModelFolder() const;

  GraphBuilder ownGraph_;
  std::string path_;
};

} // namespace burin
