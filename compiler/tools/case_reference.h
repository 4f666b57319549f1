// A golden case's graph in double precision, a sequence at a time.
#pragma once

#include "reference/evaluate_graph.h"
#include "tools/golden_case.h"

namespace burin {

class CaseReference {
public:
  /// Both outlive it; the case fits the signature.
  CaseReference(const GoldenCase &given, const GraphSignature &signature);

  /// What `forward` of a graph with that signature gives for one sequence.
  llvm::Expected<llvm::SmallVector<HostTensor>> evaluate(mlir::ModuleOp graph, int64_t sequence,
                                                         ReferenceObserver observe = {});

private:
  const GoldenCase &case_;
  const GraphSignature &signature_;
  ReferenceInputs given_;
  llvm::StringMap<std::vector<double>> inputs_; // of all sequences
};

} // namespace burin
