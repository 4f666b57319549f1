// What this core can do at most: a loop of fused multiply-adds that never leaves the registers. Every "% of FMA peak"
// that the tool prints is of a peak measured in the same run, since clocks differ between runs and machines.
#pragma once

namespace burin {

/// GFLOP/s of one run of about ten milliseconds, in vectors of `lanes` floats, or of as many as this processor has: 16, 8
/// or, without FMA, 4. A target may run on processors with narrower vectors than it counts in, as a GPU's does.
double measureFmaPeak(int lanes);

/// Bytes that this core reads from memory in a second, of one run over an array that no cache holds.
double measureReadBandwidth();

} // namespace burin
