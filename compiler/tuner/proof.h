// That a graph compiled with the records of a database is what it was: the same bits as with derived schedules, in
// forward at several lengths and in every stream, and near the reference. Each candidate was compared alone before;
// this is the whole object, with its choice among variants by rows.
#pragma once

#include "tools/graph_source.h"
#include "tools/progress.h"

namespace burin {

/// Success, or what differs and where. For targets of this process.
llvm::Error proveTuned(const GraphSource &source, llvm::StringRef target, const std::string &database, unsigned jobs,
                       Progress &progress);

} // namespace burin
