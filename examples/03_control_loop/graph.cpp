// A policy: 32 sensor readings in, 12 commands out, every tick of a control loop. Causal, so that a tick costs one
// `step` and not a run over everything seen so far.
#include "dsl/burin_main.h"
#include "dsl/encoder.h"
#include "dsl/layers.h"

using namespace burin;

static Graph build() {
  Graph g("policy");
  TimeAxis time = g.time("time", {.max = 64});
  Tensor x = g.input("x", {time, 32});
  Tensor y =
      transformer_encoder(x, {.d_model = 64, .heads = 4, .d_ff = 256, .depth = 2, .outputs = 12, .causal = true});
  g.output("y", y);
  g.require_step(); // a change that made the policy look ahead would be an error here, not a missing function in C
  return g;
}

int main(int argc, char **argv) { return burin::burin_main(argc, argv, build); }
