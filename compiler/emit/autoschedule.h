// A kernel scheduled by one of Halide's autoschedulers in place of a target's schedule file: a baseline for `burin
// tune`, and nothing that a model is compiled with. Their plugins come with Halide.
//
// Rejected: autoschedulers as the way to a schedule. They plan for a fixed size, may change the order in which sums are
// taken up, and their kernels allocate what no bound is known of.
#pragma once

#include "Halide.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace burin {

/// Those for processors: Mullapudi2016 and Adams2019; those for GPUs: Li2018 and Anderson2021.
llvm::ArrayRef<const char *> cpuAutoschedulers();
llvm::ArrayRef<const char *> gpuAutoschedulers();

/// Schedules a pipeline that has no schedule, for `rows` rows. Throws Halide::Error, as Halide does.
void autoschedule(Halide::Pipeline pipeline, const Halide::Target &target, const std::string &name, int64_t rows);

} // namespace burin
