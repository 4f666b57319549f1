// Counts what this whole program takes from the allocator and gives back to it, and the locks that it takes: compiled
// models resolve against the program's functions, as every shared library does.
#pragma once

namespace burin::laws {

/// False where the allocator belongs to a sanitizer, or is not glibc's.
bool allocationsAreCounted();

/// Calls of malloc, calloc, realloc, free and the aligned ones so far.
long allocations();

/// Mutexes and locks of readers and writers that were taken or tried so far; counted where allocations are.
long locks();

} // namespace burin::laws
