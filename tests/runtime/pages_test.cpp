// What the system is told of a model's memory, as /proc says it was heard.
#include "runtime_test.h"
extern "C" {
#include "heap.h"
}
#include "gtest/gtest.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace {

struct Block {
  void *memory = nullptr;
  explicit Block(size_t weights_bytes) {
    burin_message message = {};
    EXPECT_EQ(burin_heap_allocate(&memory, weights_bytes, 4096, &message), BURIN_OK);
  }
  ~Block() { burin_heap_free(memory); }
};

// Whether the page that holds the address is one that may become part of a large page ("hg" among its flags).
bool may_be_large(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &first, &end) == 2)
      here = reinterpret_cast<uintptr_t>(address) >= first && reinterpret_cast<uintptr_t>(address) < end;
    else if (here && line.rfind("VmFlags:", 0) == 0)
      return line.find(" hg") != std::string::npos;
  }
  return false;
}

TEST(Pages, of_many_weights_may_be_large) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "this system has no large pages to ask for";
  const size_t bytes = size_t(16) << 20;
  Block block(bytes);
  EXPECT_TRUE(may_be_large(static_cast<unsigned char *>(block.memory) + bytes / 2));
}

} // namespace
