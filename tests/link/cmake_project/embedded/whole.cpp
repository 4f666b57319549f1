// A model whose weights are in the program.
#include "dsl/burin_main.h"
#include "dsl/encoder.h"

using namespace burin;

static Graph build() {
  Graph g("whole");
  TimeAxis time = g.time("time", {.max = 4});
  Tensor x = g.input("x", {time, 3});
  g.output("y", dense(x, parameter(g, "W", {3, 2}, Init::normal)));
  return g;
}

int main(int argc, char **argv) { return burin_main(argc, argv, build); }
