// What a golden case and its graph say about streams: step, advance, append and the state against forward, against one
// another and against the case's values.
#pragma once

#include "tools/case_run.h"

namespace burin {

/// Compares what can be; a case with values of streams for a graph that has none is an error.
llvm::Error checkStreams(CaseRun &run);

} // namespace burin
