// Signs of life: none for what is quick, one where a single piece of work takes longer, none once it is cleared.
#include "tools/progress.h"
#include "gtest/gtest.h"

using namespace burin;
using namespace std::chrono_literals;

namespace {
/// What is written to stderr, which is no terminal here, while `work` runs.
template <typename Work> std::string saidDuring(Work work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}
} // namespace

TEST(progress, says_nothing_before_two_seconds) {
  auto start = std::chrono::steady_clock::now();
  std::string said = saidDuring([] {
    Progress progress("compiling");
    progress.update("kernel", 1, 3);
    std::this_thread::sleep_for(1200ms);
  });
  if (std::chrono::steady_clock::now() - start > 2s)
    GTEST_SKIP() << "this machine is too busy: more than two seconds have passed";
  EXPECT_EQ(said, "");
}

TEST(progress, of_one_long_piece_of_work_is_shown_without_an_update) {
  std::string said = saidDuring([] {
    Progress progress("compiling");
    progress.update("kernel", 1, 3);
    std::this_thread::sleep_for(4500ms);
  });
  EXPECT_EQ(said.rfind("kernel: 1 of 3 (", 0), 0u) << said;
}

TEST(progress, before_the_first_update_is_what_the_command_does) {
  std::string said = saidDuring([] {
    Progress progress("compiling");
    std::this_thread::sleep_for(4500ms);
  });
  EXPECT_EQ(said.rfind("compiling (", 0), 0u) << said;
}

TEST(progress, ends_where_it_is_cleared) {
  EXPECT_EQ(saidDuring([] {
              Progress progress("compiling");
              progress.clear();
              std::this_thread::sleep_for(4500ms);
            }),
            "");
}
