// A second model of the same project.
#include "dsl/burin_main.h"
#include "dsl/encoder.h"

using namespace burin;

static Graph build() {
  Graph g("wide");
  TimeAxis time = g.time("time", {.max = 16});
  Tensor x = g.input("x", {time, 3});
  g.output("y", relu(dense(x, parameter(g, "W", {3, 40}, Init::normal))));
  return g;
}

int main(int argc, char **argv) { return burin_main(argc, argv, build); }
