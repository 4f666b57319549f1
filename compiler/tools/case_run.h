// A golden case beside its compiled graph: what the comparisons of whole sequences and those of streams share.
#pragma once

#include "tools/comparison.h"
#include "tools/compiled_model.h"
#include "tools/golden_case.h"
#include "tools/input_values.h"
#include "tools/progress.h"

namespace burin {

/// A tensor that is put together row by row or sequence by sequence.
using Values = std::vector<float>;

class CaseRun {
public:
  /// All of these outlive it.
  CaseRun(const GoldenCase &given, const GraphSignature &signature, CompiledModel &model, llvm::StringRef target,
          Precision precision, ComparisonReport &report, Progress &progress);

  const GoldenCase &given;
  const GraphSignature &signature;
  CompiledModel &model;
  InputValues inputs;
  Progress &progress;

  void add(Comparison comparison, llvm::StringRef what);
  /// Compares with what comes from outside.
  void addOutside(const Values &got, const StoredTensor &expected, llvm::StringRef what);
  /// The same with `out.<name>` when the case has it; its shape is the tensor's.
  void addExpected(const Values &got, llvm::StringRef name, llvm::StringRef what);
  /// " 'y'" behind what a comparison is about, where the graph has several outputs.
  std::string suffixOf(const EntryTensor &output) const;

  int64_t first(int64_t sequence, size_t axis) const { return given.offsets()[axis][sequence]; }
  int64_t rows(int64_t sequence, size_t axis) const { return first(sequence + 1, axis) - first(sequence, axis); }
  std::vector<int64_t> lengthsOf(int64_t sequence) const;

  /// `forward` on the first rows of one sequence; `lengths` by the signature's axes.
  llvm::Expected<CompiledModel::Outputs> forward(int64_t sequence, llvm::ArrayRef<int64_t> lengths);

  const Tolerances tolerances;

private:
  llvm::StringRef target_;
  Precision precision_;
  ComparisonReport &report_;
};

} // namespace burin
