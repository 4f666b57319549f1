// Graphs of golden case files: a case names a layer (`op`) and its arguments (`args`), and this builds the graph.
//
// One table, a row per layer: the arguments it takes, and how its graph is declared. A new layer is a row.
#pragma once

#include "dsl/encoder.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <nlohmann/json_fwd.hpp>

namespace burin {

/// The graph of a case, named after its layer; inputs, parameters and output have the case file's names. The time's
/// maximum is the case's length (of an encoder: max_len). An unknown layer, an argument that is unknown, missing or of
/// another type, and sizes that do not fit one another are errors that name the entry.
llvm::Expected<Graph> buildGoldenGraph(llvm::StringRef op, const nlohmann::json &args);

} // namespace burin
