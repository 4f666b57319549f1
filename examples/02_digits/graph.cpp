// An encoder that reads an 8×8 image as a sequence of 8 rows and says which digit it shows. Causal, so that it can say
// so after every row. The sizes are those that the weights were trained with.
#include "dsl/burin_main.h"
#include "dsl/encoder.h"
#include "dsl/layers.h"

using namespace burin;

static Graph build() {
  Graph g("digit_reader");
  TimeAxis rows = g.time("rows", {.max = 8});
  Tensor pixels = g.input("pixels", {rows, 8});
  Tensor scores =
      transformer_encoder(pixels, {.d_model = 32, .heads = 4, .d_ff = 64, .depth = 2, .outputs = 10, .causal = true});
  g.output("scores", scores);
  return g;
}

int main(int argc, char **argv) { return burin::burin_main(argc, argv, build); }
