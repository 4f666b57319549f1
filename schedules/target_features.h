// What some processors of a target have besides, as data from targets.def. A target with features is a target like
// others, made from its row (targets.cpp); who asks for one by name needs nothing of this.
#pragma once

#include "schedules/targets.h"

namespace burin {

/// `<target>-<name>` is code that uses the feature, and opens on no processor without it.
struct TargetFeature {
  llvm::StringLiteral target, name, about;
  llvm::StringLiteral halide;  // as Halide's target string has it
  std::vector<CpuBit> cpuBits; // what a processor must have besides the row's
};

llvm::ArrayRef<TargetFeature> allTargetFeatures();

/// The name of a target with a feature. Several follow one another, in the order of the list.
std::string nameWithFeature(const TargetFeature &feature);

} // namespace burin
