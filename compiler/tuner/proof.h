// That a graph compiled with the records of a database is what it was: the same bits as with derived schedules, in
// forward at several lengths and in every stream, and near the reference. Each candidate was compared alone before;
// this is the whole object, with its choice among variants by rows.
#pragma once

#include "dialect/precision.h"
#include "tools/graph_source.h"
#include "tools/progress.h"

namespace burin {

struct ProofOptions {
  std::string target, database;
  std::optional<Precision> precision; // of all contracts; else the graph's own
  int threads = 1;                    // of the tuned model; the other has one
  unsigned jobs = 0;
};

/// Success, or what differs and where. For targets of this process.
llvm::Error proveTuned(const GraphSource &source, const ProofOptions &options, Progress &progress);

} // namespace burin
