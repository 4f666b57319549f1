// Which targets the laws of a graph are tested on, beyond what runs here (law_graphs.h).
#pragma once

#include "dialect/precision.h"
#include "schedules/targets.h"

namespace burin::laws {

/// Whether what the target has besides changes kernels in `precision`: what adds up products of few bits in one
/// instruction has in float32 the kernels of the target without.
bool hasKernelsOfItsOwn(const Target &target, Precision precision);

} // namespace burin::laws
