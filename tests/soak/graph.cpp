// An encoder that may run for ever: a window instead of all that came before, and a row of outputs for each sample.
#include "dsl/burin_main.h"
#include "dsl/encoder.h"
#include "dsl/layers.h"

using namespace burin;

static Graph build() {
  Graph g("windowed_encoder");
  TimeAxis time = g.time("time", {.max = 64}); // of forward; a stream goes on
  Tensor x = g.input("x", {time, 16});
  // windowed_stream.cpp knows depth and window.
  Tensor y = transformer_encoder(x, {.d_model = 32,
                                     .heads = 4,
                                     .d_ff = 64,
                                     .depth = 2,
                                     .outputs = 8,
                                     .causal = true,
                                     .window = 24,
                                     .pooling = Pooling::none});
  g.output("y", y);
  g.require_step();
  return g;
}

int main(int argc, char **argv) { return burin::burin_main(argc, argv, build); }
