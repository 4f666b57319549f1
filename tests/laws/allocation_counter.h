// Counts what this whole program takes from the allocator and gives back to it: compiled models resolve against the
// program's malloc, as every shared library does.
#pragma once

namespace burin::laws {

/// False where the allocator belongs to a sanitizer, or is not glibc's.
bool allocationsAreCounted();

/// Calls of malloc, calloc, realloc, free and the aligned ones so far.
long allocations();

} // namespace burin::laws
