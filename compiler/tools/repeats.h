// Repeats in a sequence, such as the equal blocks of a deep encoder, so that a page draws them once.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>
#include <vector>

namespace burin {

/// `times` units of `length` elements each, one after another, from `first` on.
struct Repeat {
  size_t first, length, times;
};

/// The repeats of units of at least `shortest` elements, in order, none over another. `alike(a, b)` says whether
/// element b is to the unit that begins b − a later what a is to its own.
std::vector<Repeat> findRepeats(size_t count, size_t shortest, llvm::function_ref<bool(size_t, size_t)> alike);

} // namespace burin
