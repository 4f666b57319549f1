// Plans with plain kernels, small enough to compute by hand.
//
// `rows_plan`: forward(x [time, 2]) -> mean [sequence, 2], placed [time, 2]
//     h = 3 x  (all rows at once) · mean = mean of h over a sequence (per sequence) · placed = h + position
// `mask_plan`: forward(q [t_q, 1], k [t_k, 1], mask [t_q, t_k]) -> y [t_q, 1]
//     y_i = q_i + sum of k_j where mask_ij (per sequence)
// `step_plan`: step(x [2]) -> y [2], with a tiled and a plain cache of x and a double sum of it
//     y = sum of all x so far, from each of the three; the kernel fails when they differ
#pragma once

#include "runtime_test.h"

namespace burin_test {

extern const burin_plan rows_plan;
extern const burin_plan mask_plan;
extern const burin_plan step_plan;

// What kernels saw, for tests that ask.
struct Seen {
  int calls = 0;
  bool fail_next = false;     // the next kernel returns an error
  bool complain_next = false; // the next kernel reports an error and returns none
};
extern Seen seen;

enum { STEP_CAPACITY = 6, STEP_TILE = 4 };

Model open_rows_model(const burin_plan &plan = rows_plan);
Model open_without_weights(const burin_plan &plan);

} // namespace burin_test
