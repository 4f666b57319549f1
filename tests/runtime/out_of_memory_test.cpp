// Memory that runs out at any moment of opening is a status, with a sentence, and nothing is left behind. In a program
// of its own, because its allocator fails when told to.
#include "packed_weights.h"
#include "split_plans.h"

#include <algorithm>
#include <cstddef>
#include <set>

using namespace burin_test;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
bool counts = false;
long taken = 0, live = 0, fails_at = -1;

bool fails() { return counts && taken++ == fails_at; }
void *kept(void *memory) {
  live += counts && memory;
  return memory;
}
} // namespace

extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t items, size_t bytes);
void __libc_free(void *memory);
void *malloc(size_t bytes) { return fails() ? nullptr : kept(__libc_malloc(bytes)); }
void *calloc(size_t items, size_t bytes) { return fails() ? nullptr : kept(__libc_calloc(items, bytes)); }
void free(void *memory) {
  live -= counts && memory;
  __libc_free(memory);
}
}

namespace {

// Opens with the first allocation failing, then the second, until none does. Returns what was said.
std::set<std::string> fail_at_each(const burin_plan &plan, burin_open_options options) {
  std::set<std::string> said;
  char message[256];
  options.message = message;
  options.message_bytes = sizeof message;
  for (fails_at = 0;; ++fails_at) {
    std::memset(message, 0, sizeof message);
    burin_model *model = nullptr;
    counts = true;
    taken = live = 0;
    burin_status status = burin_rt_open(&plan, &options, &model);
    const bool failed = taken > fails_at;
    burin_rt_close(model);
    counts = false;
    EXPECT_EQ(live, 0) << "allocations that are not freed, where number " << fails_at << " fails";
    if (!failed) {
      EXPECT_EQ(status, BURIN_OK) << message;
      EXPECT_GT(fails_at, 0) << "nothing was allocated";
      return said;
    }
    EXPECT_TRUE(status == BURIN_OUT_OF_MEMORY || status == BURIN_NO_WORKERS) << burin_status_text(status);
    EXPECT_EQ(model, nullptr);
    EXPECT_NE(std::string(message), "") << "where number " << fails_at << " fails";
    said.insert(message);
  }
}

TEST(OutOfMemory, of_a_safetensors_file) {
  std::string file = two_tensors();
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  std::set<std::string> said = fail_at_each(two_tensors_plan(), options);
  EXPECT_EQ(said.count("memory for the names of the tensors could not be allocated"), 1u);
}

TEST(OutOfMemory, of_threads) {
  burin_open_options options = {};
  options.threads = 3;
  open_with(split_plan, options); // the C library keeps a thread's stack, and memory with it, for the next one
  std::set<std::string> said = fail_at_each(split_plan, options);
  EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const std::string &text) {
    return text.find(" bytes for the workers' arenas could not be allocated") != std::string::npos;
  }));
}

TEST(OutOfMemory, of_a_packed_file_that_is_copied) {
  std::string file = good_file();
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  fail_at_each(two_tensors_plan(), options);
}

TEST(OutOfMemory, of_a_file_that_is_mapped) {
  TemporaryFile file(good_file());
  burin_open_options options = {};
  options.weights_path = file.name();
  fail_at_each(two_tensors_plan(), options);
}

} // namespace
#else
TEST(OutOfMemory, of_a_safetensors_file) { GTEST_SKIP() << "the allocator belongs to a sanitizer, or is not glibc's"; }
#endif

// A file that is cut while it is mapped ends the process by SIGBUS when its pages are read: the program's pages are the
// file's (burin.h says so). Copied it does not matter.
TEST(TruncatedFile, a_copy_is_immune) {
  std::string weights = good_file();
  TemporaryFile file(weights);
  burin_open_options options = {};
  options.weights_path = file.name();
  options.copy = 1;
  Opened opened = open_with(two_tensors_plan(), options);
  ASSERT_EQ(opened.status, BURIN_OK);
  ASSERT_EQ(truncate(file.name(), 0), 0);
  EXPECT_EQ(weights_of(two_tensors_plan(), opened), packed_weights);
}
