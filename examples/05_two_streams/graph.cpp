// A robot's arm and its camera. The joints are read 500 times a second, the camera gives 30 frames a second; the joints
// ask the frames only while something presses against the gripper. Both encoders look back in time and not ahead, so
// each stream goes on sample by sample.
#include "dsl/burin_main.h"
#include "dsl/encoder.h"
#include "dsl/layers.h"

using namespace burin;

/// What happened to one stream up to each of its samples; parameters below `name`.
static Tensor encoded(Tensor x, const char *name, int64_t d_model, int64_t window) {
  Scope inside(x, name);
  Tensor rows = add_positions(dense(x, {.outputs = d_model}));
  return transformer_block(rows,
                           {.d_model = d_model, .heads = 4, .d_ff = 2 * d_model, .causal = true, .window = window});
}

static Graph build() {
  Graph g("grasp");
  TimeAxis joints = g.time("joints", {.max = 1100}); // 2.2 s
  TimeAxis camera = g.time("camera", {.max = 64});   // 2.1 s
  Tensor readings = g.input("readings", {joints, 24});
  Tensor force = g.input("force", {joints, 1});
  Tensor frames = g.input("frames", {camera, 48});

  Tensor motion = encoded(readings, "motion", 64, /*window=*/50); // 0.1 s
  Tensor scene = encoded(frames, "scene", 48, /*window=*/8);      // a quarter of a second
  Tensor y = gated_cross_attention(motion, scene, force, {.d_model = 64, .heads = 4, .threshold = 0.5});
  g.output("torques", dense(y, {.outputs = 6}));
  g.require_step();
  return g;
}

int main(int argc, char **argv) { return burin::burin_main(argc, argv, build); }
