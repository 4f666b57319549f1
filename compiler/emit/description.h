// What a shared library says of its model: names, types and shapes, as JSON, so that a program that finds the library
// while running can call it without the generated header. The Python package does.
//
// The text is the data symbol `burin_library_description`, null-terminated. It is in shared libraries alone: who links
// an object has its header. Rejected: reading the plan's tables from outside, whose layout changes with the runtime; a
// file beside the library, which may be left behind.
#pragma once

#include "emit/model_plan.h"
#include "llvm/Support/Error.h"

namespace burin {

/// One JSON object. `format` counts the changes that a reader must know of.
std::string descriptionOf(llvm::ArrayRef<const ModelPlan *> plans);

/// Writes a copy of the object that has the description; returns its path, in `folder`.
llvm::Expected<std::string> addDescription(llvm::StringRef object, const std::string &description,
                                           llvm::StringRef folder);

} // namespace burin
