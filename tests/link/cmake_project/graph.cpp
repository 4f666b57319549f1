#include "dsl/burin_main.h"
#include "dsl/layers.h"

using namespace burin;

static Graph build() {
  Graph g("small");
  TimeAxis time = g.time("time", {.max = 16});
  Tensor x = g.input("x", {time, 3});
  g.output("y",
           transformer_encoder(x, {.d_model = 8, .heads = 2, .d_ff = 16, .depth = 1, .outputs = 4, .causal = true}));
  return g;
}

int main(int argc, char **argv) { return burin_main(argc, argv, build); }
