// The commands of `burin`, for its own main() and for DSL programs, which have the same ones.
#pragma once

#include "tools/graph_source.h"

namespace burin {

/// Runs the command that the arguments name; returns the exit status: 0, 1 for an error, 2 for wrong usage. With
/// `ownGraph`, every command works on that graph and takes no GRAPH argument.
int toolMain(int argc, char **argv, GraphBuilder ownGraph = {});

} // namespace burin
