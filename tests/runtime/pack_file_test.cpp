// Packed files ahead of time: written whole or not at all, and checked by content.
#include "packed_weights.h"

#include <csignal>
#include <sys/resource.h>

using namespace burin_test;

namespace {

// --- content ---

burin_status check(const std::string &path, std::string *sentence, burin_rt_packed_description *found) {
  char message[512] = "untouched";
  burin_status status = burin_rt_check_packed(path.c_str(), nullptr, found, message, sizeof message);
  *sentence = message;
  return status;
}

TEST(PackFile, damaged_weights_are_found_by_those_who_look) {
  burin_plan plan = two_tensors_plan();
  const std::string good = good_file();
  for (size_t place : {size_t(4096), good.size() - 1}) {
    std::string damaged = good;
    damaged[place] ^= 0x40;
    TemporaryFile file(damaged);
    EXPECT_EQ(open_path(plan, file.path()).status, BURIN_OK);
    const std::string expected = "the weights in the packed file are damaged: their content hash is " +
                                 hash_text(burin_hash(damaged.data() + 4096, 80, 0)) + ", expected " +
                                 hash_text(header_of(good).content);
    burin_open_options options = {};
    options.verify_content = 1;
    for (int copy : {0, 1}) {
      options.copy = copy;
      Opened opened = open_path(plan, file.path(), options);
      EXPECT_EQ(opened.status, BURIN_FILE_MALFORMED);
      EXPECT_EQ(opened.message, expected);
      EXPECT_EQ(opened.model, nullptr);
    }
    std::string sentence;
    burin_rt_packed_description found;
    EXPECT_EQ(check(file.path(), &sentence, &found), BURIN_FILE_MALFORMED);
    EXPECT_EQ(sentence, expected);
  }
}

TEST(PackFile, checked_without_a_plan) {
  std::string sentence;
  burin_rt_packed_description found;
  TemporaryFile good(good_file()), other(two_tensors()), none;
  EXPECT_EQ(check(good.path(), &sentence, &found), BURIN_OK);
  EXPECT_EQ(sentence, "");
  EXPECT_STREQ(found.target, "x86-64-avx2");
  EXPECT_STREQ(found.model, "two_tensors");
  EXPECT_EQ(found.weights_bytes, 80u);
  EXPECT_EQ(check(other.path(), &sentence, &found), BURIN_FILE_MALFORMED);
  EXPECT_EQ(sentence, "the file is not a packed one: it does not begin with BURINPK1");
  EXPECT_EQ(check(none.path(), &sentence, &found), BURIN_FILE_UNREADABLE);
  EXPECT_EQ(sentence, "cannot open '" + none.path() + "': No such file or directory");
  std::string cut = good_file();
  cut.pop_back();
  good.write(cut);
  EXPECT_EQ(check(good.path(), &sentence, &found), BURIN_FILE_MALFORMED);
  EXPECT_EQ(sentence, "the packed file has 79 bytes of weights, but its header says 80");
}

// --- writing ---

TEST(PackFile, is_written_whole_or_not_at_all) {
  burin_plan plan = two_tensors_plan();
  std::string sentence;
  TemporaryFile file("what stood here");
  EXPECT_EQ(pack_to(plan, file_with("{}"), file.path(), &sentence), BURIN_WEIGHTS_MISMATCH);
  EXPECT_EQ(sentence, "tensor 'W' is missing; tensor 'b' is missing");
  EXPECT_EQ(file.read(), "what stood here");
  EXPECT_EQ(pack_to(plan, two_tensors(), file.path() + "/no/such/folder", &sentence), BURIN_FILE_UNREADABLE);
  EXPECT_EQ(sentence, "cannot write '" + file.path() + "/no/such/folder': Not a directory");
  EXPECT_EQ(pack_to(plan, two_tensors(), testing::TempDir(), &sentence), BURIN_FILE_UNREADABLE);
  EXPECT_EQ(sentence, "cannot write '" + testing::TempDir() + "': it is not a regular file");

  rlimit before, small;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 4100; // as a full disk: a write stops short, then fails
  auto *handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  burin_status status = pack_to(plan, two_tensors(), file.path(), &sentence);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(status, BURIN_FILE_UNREADABLE);
  EXPECT_EQ(sentence, "cannot write '" + file.path() + "': File too large");
  EXPECT_EQ(file.read(), "what stood here");
  EXPECT_NE(access((file.path() + ".new-" + std::to_string(getpid()) + "-0").c_str(), F_OK), 0);

  EXPECT_EQ(pack_to(plan, two_tensors(), file.path(), &sentence), BURIN_OK);
  EXPECT_EQ(file.read(), good_file());
}

TEST(PackFile, reports_progress) {
  struct Seen {
    int64_t written = 0, total = 0;
  } seen;
  burin_rt_progress progress = {[](void *context, const char *what, int64_t done, int64_t total) {
                                  if (std::strcmp(what, "writing") == 0)
                                    *static_cast<Seen *>(context) = {done, total};
                                },
                                &seen};
  TemporaryFile file;
  ASSERT_EQ(pack_to(two_tensors_plan(), two_tensors(), file.path(), nullptr, &progress), BURIN_OK);
  EXPECT_EQ(seen.written, 80);
  EXPECT_EQ(seen.total, 80);
}

} // namespace
