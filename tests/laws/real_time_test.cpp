// Law 5, the real-time contract: after a model is opened, its calls make no system call and take no page fault, and do
// not care for the caller's floating-point mode.
#include "law_graphs.h"
#include <cmath>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

using namespace burin;
using namespace burin::laws;

BURIN_LAW(real_time, [](const LawGraph &) { return true; });

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_WITH_A_SANITIZER() GTEST_SKIP() << "a sanitizer makes system calls and takes pages of its own"
#else
#define SKIP_WITH_A_SANITIZER() (void)0
#endif

#if defined(__linux__)
/// Runs `calls`, which say whether all went well, in a child that the kernel ends at any system call but write and
/// exit.
static void expectNoSystemCall(const Case &test, llvm::function_ref<bool()> calls) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
      _exit(3);
    long status = calls() ? 0 : 1;
    syscall(SYS_exit, status); // _exit would end a group of threads, which is another call
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status))
    fail(test, "ended by signal " + std::to_string(WTERMSIG(status)) +
                   (WTERMSIG(status) == SIGKILL ? ": a system call was made" : ""));
  else if (WEXITSTATUS(status) != 0)
    fail(test, WEXITSTATUS(status) == 3 ? "the filter cannot be set" : "a call failed");
}

TEST(real_time_of_a_filter, that_ends_whoever_makes_a_system_call) {
  SKIP_WITH_A_SANITIZER();
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    syscall(SYS_getppid);
    syscall(SYS_exit, 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_P(real_time, calls_make_no_system_call) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  SKIP_ON_DEVICE("its driver makes system calls");
  SKIP_WITH_A_SANITIZER();
  std::vector<ForwardCall> forwards;
  for (const std::vector<int64_t> &lengths : oddLengths(signature()))
    forwards.emplace_back(opened(), model().graph.randomSequence(lengths, 1));
  std::vector<Sequence> sequences;
  for (int64_t length : {5, 3, 1, 0, 33})
    sequences.push_back(randomSequence(length, 1));
  ForwardCall batch(opened(), sequences);
  Sequence sequence = randomSequence(40, 1);
  std::optional<Stream> stream;
  std::vector<char> saved;
  if (opened().hasStep()) {
    stream.emplace(opened(), 37);
    for (int number = opened().plan().stream_count - 1; number >= 0; --number) {
      stream->feed(sequence, 0, 37, number);
      require("advance", stream->advance(37, number));
    }
    saved = stream->save(); // of as many rows as the filtered calls take
  }
  expectNoSystemCall(place("every call", 1), [&] {
    for (ForwardCall &call : forwards)
      if (call.run() != BURIN_OK)
        return false;
    if (batch.runBatch() != BURIN_OK)
      return false;
    if (!stream)
      return true;
    size_t bytes = 0;
    bool good = stream->reset() == BURIN_OK;
    for (int number = opened().plan().stream_count - 1; number >= 0; --number)
      good = good && stream->advance(number ? 37 : 36, number) == BURIN_OK;
    good = good && stream->step() == BURIN_OK;
    return good && stream->save(saved, bytes) == BURIN_OK && stream->load(saved) == BURIN_OK;
  });
}

// 10^5 steps, of which none touches a page for the first time.
TEST(real_time_of_streams, resident_weights_and_state_take_no_page_fault) {
  SKIP_WITH_A_SANITIZER();
  for (const char *name : {"windowed_encoder", "windowed_blocks"}) {
    const LawModel &model = LawModel::of(lawGraph(name), *hostTarget());
    Stream stream(model.opened);
    stream.feed(model.graph.randomSequence({1}, 1), 0);
    for (int step = 0; step < 1000; ++step)
      require("step", stream.step());
    auto faults = [] {
      rusage usage;
      getrusage(RUSAGE_SELF, &usage);
      return usage.ru_minflt + usage.ru_majflt;
    };
    long before = faults();
    for (int step = 0; step < 100000; ++step)
      if (stream.step() != BURIN_OK)
        FAIL() << name << " fails in step " << step;
    EXPECT_EQ(faults() - before, 0) << name;
  }
}
#endif

#if defined(__SSE__)
/// Denormals are zero, going in and coming out, as audio and games set it.
class FlushToZero {
public:
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(before_); }
  bool isSet() const { return (_mm_getcsr() & 0x8040) == 0x8040; }

private:
  unsigned before_;
};

TEST_P(real_time, results_do_not_depend_on_flush_to_zero) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  Sequence sequence = randomSequence(33, 2);
  for (InputValues &input : sequence.inputs) // from 1 down to what is no longer a normal number, row after row
    for (size_t i = 0, width = input.floats.size() / 33; i < input.floats.size(); ++i)
      input.floats[i] *= std::ldexp(1.0f, -int(i / width) * 5);
  Outputs expected = forward(opened(), sequence);
  ForwardCall call(opened(), sequence);
  {
    FlushToZero mode;
    require("forward", call.run());
    EXPECT_TRUE(mode.isSet()) << "the caller's mode is as it was\nrerun: " << rerunCommand();
  }
  Outputs got = call.results()[0];
  for (size_t output = 0; output < got.size(); ++output)
    if (!expectClose(place("forward, denormals flushed to zero", 2, int(output)), got[output], expected[output],
                     columns(output)))
      return;
}
#endif
