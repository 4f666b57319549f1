// The plan that fuzzed weights are opened for: a matrix in panels and a vector, 80 bytes packed.
#pragma once

#include "burin_plan.h"

#include <cstdlib>
#include <cstring>

namespace burin_fuzz {

inline const burin_plan &plan() {
  static const burin_plan_parameter parameters[] = {{"W", 2, 0, {3, 2}}, {"b", 1, 0, {3, 1}}};
  static const burin_plan_segment segments[] = {{0, BURIN_PACK_PANELS, 1, 2, 2, 0, 0},
                                                {1, BURIN_PACK_VECTOR, 0, 0, 0, 0, 64}};
  static const burin_plan_entry forward = {};
  static const burin_plan made = [] {
    burin_plan plan = {};
    plan.version = BURIN_PLAN_VERSION;
    plan.name = "two_tensors";
    plan.target = "x86-64-avx2";
    plan.forward = &forward;
    plan.parameters = parameters;
    plan.parameter_count = 2;
    plan.segments = segments;
    plan.segment_count = 2;
    plan.weights_bytes = 80;
    return plan;
  }();
  return made;
}

} // namespace burin_fuzz
