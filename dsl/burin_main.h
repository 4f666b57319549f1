// What turns a program that declares a graph into a tool with the commands of `burin`: compile, check, inspect, …
//
//     int main(int argc, char **argv) { return burin::burin_main(argc, argv, build); }
#pragma once

#include "dsl/encoder.h"

namespace burin {

/// Runs the command that the arguments name on the graph that `build` declares; returns the exit status. Errors of the
/// graph go to stderr, all of them, and the status is then not 0.
int burin_main(int argc, char **argv, Graph (*build)());

} // namespace burin
