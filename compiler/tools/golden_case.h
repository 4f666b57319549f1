// A golden case: one file with a graph (as a layer and its arguments, or as text), its parameters, inputs and expected
// values. Everything that does not fit together is found here, before anything is compiled, and named.
#pragma once

#include "tools/graph_signature.h"
#include "tools/graph_source.h"

namespace burin {

class GoldenCase {
public:
  static llvm::Expected<GoldenCase> read(llvm::StringRef path);

  /// Takes parameters from this file, by the graph's own names, and none from the case. The file outlives the case.
  void useWeights(const SafetensorsFile &weights) { weights_ = &weights; }

  /// The file's name without folder and extension.
  const std::string &name() const { return name_; }

  /// The graph of the case's op and args, through the DSL's layers, or of its metadata `graph`.
  llvm::Expected<LoadedGraph> buildGraph() const;

  /// Checks every part against the graph, all of them, and settles what the case's sequences are. An error has a line
  /// for each part that does not fit.
  llvm::Error fit(const GraphSignature &signature);

  // ---- After fit

  /// Row at which each sequence starts, and the end, for each axis of the signature.
  const std::vector<std::vector<int64_t>> &offsets() const { return offsets_; }
  int64_t sequences() const { return sequences_; }
  bool isBatch() const { return file_.find("in.offsets") != nullptr; }
  const StoredTensor *expected(llvm::StringRef name) const { return file_.find("out." + name.str()); }
  /// Expected values of one sequence alone: `out.hidden_1` is output `hidden` of sequence 1.
  const StoredTensor *expected(llvm::StringRef name, int64_t sequence) const {
    return expected(name.str() + "_" + std::to_string(sequence));
  }
  const StoredTensor &parameter(llvm::StringRef name) const {
    return weights_ ? *weights_->find(name.str()) : *file_.find("param." + name.str());
  }
  const StoredTensor &input(llvm::StringRef name) const { return *file_.find("in." + name.str()); }

private:
  llvm::Error settleSequences(const GraphSignature &signature);
  /// Rows of a symbol as args, or else the inputs, say.
  llvm::Expected<int64_t> rowsOf(const Axis &axis, const GraphSignature &signature) const;
  std::optional<int64_t> argument(llvm::StringRef name) const;
  void checkParameters(const GraphSignature &signature, std::vector<std::string> &problems) const;
  void checkParts(const GraphSignature &signature, std::vector<std::string> &problems) const;

  std::string name_, path_;
  SafetensorsFile file_;
  const SafetensorsFile *weights_ = nullptr;
  std::string op_, args_, graph_; // of the metadata
  std::vector<std::vector<int64_t>> offsets_;
  int64_t sequences_ = 1;
};

} // namespace burin
