// Memory drawn: what lies where, and in an arena also when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace burin {

/// A value in memory; `style` is a class of the page, `title` what a pointer over it shows.
struct MemoryBlock {
  int64_t offset, bytes;
  size_t first, last; // calls between which it lives
  std::string style, label, title;
};

/// Calls from left to right, offsets from bottom to top.
std::string drawLifetimes(const std::vector<MemoryBlock> &blocks, int64_t arenaBytes, size_t calls);

/// One line of memory from left to right.
std::string drawStrip(const std::vector<MemoryBlock> &blocks, int64_t bytes);

} // namespace burin
