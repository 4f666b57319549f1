// Where what belongs to this compiler lies: beside the program or library that holds it, in a build folder and in an
// installation alike, so that an installation may be moved.
#pragma once

#include "schedules/targets.h"
#include <string>

namespace burin {

/// The archive that every program with a model for the target links. Of another architecture there is one where its
/// compiler was installed when this build was configured.
std::string runtimeArchive(const Target &target);

/// What a program links besides where the target's kernels run on a GPU; else empty.
std::string gpuArchive(const Target &target);

/// The tuning database of a CPU that belongs to this compiler, which need not be there.
std::string databaseFile(const std::string &cpu);

/// A program that this one starts, from the folder of programs.
std::string programNamed(const std::string &name);

} // namespace burin
