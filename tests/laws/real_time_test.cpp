// Law 5, the real-time contract: after a model is opened, its calls make no system call, allocate and lock nothing and
// take no page fault, and do not care for the caller's floating-point mode. On the graphs of the laws, and on those of
// the golden cases.
#include "allocation_counter.h"
#include "dsl/golden_layers.h"
#include "law_graphs.h"
#include "tools/safetensors_file.h"
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
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

/// The graphs of the golden cases, on this machine's own target. Of what the laws ask of a graph nothing is known.
class real_time_of_golden_cases : public Law {
protected:
  void SetUp() override {}
};

static std::vector<LawCase> goldenCases() {
  static const std::vector<LawGraph> graphs = [] {
    std::vector<LawGraph> graphs;
    for (const auto &entry : std::filesystem::directory_iterator(BURIN_GOLDEN_CASES)) {
      if (entry.path().extension() != ".safetensors")
        continue;
      std::map<std::string, std::string> metadata =
          llvm::cantFail(SafetensorsFile::read(entry.path().string())).metadata();
      LawGraph graph;
      graph.name = entry.path().stem();
      graph.build = [metadata] {
        return llvm::cantFail(buildGoldenGraph(metadata.at("op"), nlohmann::json::parse(metadata.at("args"))));
      };
      graphs.push_back(std::move(graph));
    }
    llvm::sort(graphs, [](const LawGraph &a, const LawGraph &b) { return a.name < b.name; });
    return graphs;
  }();
  std::vector<LawCase> cases;
  for (const LawGraph &graph : graphs)
    cases.push_back({&graph, hostTarget()});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(, real_time_of_golden_cases, testing::ValuesIn(goldenCases()), ::burin::laws::nameOf);

/// Lengths, one for each time symbol, that the graph takes.
static std::vector<std::vector<int64_t>> lengthsFor(const GraphSignature &signature) {
  std::vector<std::vector<int64_t>> all = oddLengths(signature);
  for (std::vector<int64_t> &lengths : all)
    for (auto [rows, axis] : llvm::zip_equal(lengths, signature.axes))
      rows = std::min(rows, axis.maximum);
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  return all;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_WITH_A_SANITIZER() GTEST_SKIP() << "a sanitizer makes system calls and takes pages of its own"
#else
#define SKIP_WITH_A_SANITIZER() (void)0
#endif

#if defined(__linux__)
/// Runs `calls`, which say whether all went well, in a child that the kernel ends at any system call but write and
/// exit, and which counts allocations and locks.
static void expectNoSystemCall(const Case &test, llvm::function_ref<bool()> calls) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
      _exit(2);
    const long allocated = allocations(), locked = locks();
    long status = calls() ? 0 : 1;
    status += allocations() == allocated ? 0 : 4;
    status += locks() == locked ? 0 : 8;
    syscall(SYS_exit, status); // _exit would end a group of threads, which is another call
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status))
    fail(test, "ended by signal " + std::to_string(WTERMSIG(status)) +
                   (WTERMSIG(status) == SIGKILL ? ": a system call was made" : ""));
  else if (int code = WEXITSTATUS(status))
    fail(test, code == 2  ? "the filter cannot be set"
               : code & 4 ? "something was allocated or freed"
               : code & 8 ? "a lock was taken"
                          : "a call failed");
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

TEST(real_time_of_a_filter, beside_which_locks_are_counted) {
  if (!allocationsAreCounted())
    GTEST_SKIP() << "the allocator belongs to a sanitizer, or is not glibc's";
  const long before = locks();
  std::mutex mutex;
  std::lock_guard lock(mutex);
  EXPECT_GT(locks(), before);
}

/// Every call of a model, at lengths that no tile divides and at the longest.
static void expectEveryCallToBeQuiet(const Case &test, const OpenedModel &opened) {
  const DeclaredGraph &graph = opened.graph();
  const GraphSignature &signature = graph.signature();
  auto of = [&](int64_t rows) {
    std::vector<int64_t> lengths;
    for (const Axis &axis : signature.axes)
      lengths.push_back(std::min(rows, axis.maximum));
    return graph.randomSequence(lengths, 1);
  };
  std::vector<ForwardCall> forwards;
  for (const std::vector<int64_t> &lengths : lengthsFor(signature))
    forwards.emplace_back(opened, graph.randomSequence(lengths, 1));
  std::vector<Sequence> sequences;
  for (int64_t length : {5, 3, 1, 0, 33})
    sequences.push_back(of(length));
  ForwardCall batch(opened, sequences);
  std::optional<Stream> stream;
  std::vector<char> saved;
  const Sequence sequence = of(37);
  auto rowsOf = [&](int number) { return sequence.rows[size_t(opened.axisOf(number))]; };
  if (opened.hasStep()) {
    stream.emplace(opened, 37);
    for (int number = opened.plan().stream_count - 1; number >= 0; --number) {
      stream->feed(sequence, 0, rowsOf(number), number);
      require("advance", stream->advance(rowsOf(number), number));
    }
    saved = stream->save(); // of as many rows as the filtered calls take
  }
  expectNoSystemCall(test, [&] {
    for (ForwardCall &call : forwards)
      if (call.run() != BURIN_OK)
        return false;
    if (batch.runBatch() != BURIN_OK)
      return false;
    if (!stream)
      return true;
    size_t bytes = 0;
    bool good = stream->reset() == BURIN_OK;
    for (int number = opened.plan().stream_count - 1; number >= 0; --number)
      good = good && stream->advance(number ? rowsOf(number) : rowsOf(number) - 1, number) == BURIN_OK;
    good = good && stream->step() == BURIN_OK;
    return good && stream->save(saved, bytes) == BURIN_OK && stream->load(saved) == BURIN_OK;
  });
}

TEST_P(real_time, calls_make_no_system_call) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  SKIP_ON_DEVICE("its driver makes system calls");
  SKIP_WITH_A_SANITIZER();
  expectEveryCallToBeQuiet(place("every call", 1), opened());
}

TEST_P(real_time_of_golden_cases, calls_make_no_system_call) {
  SKIP_WITH_A_SANITIZER();
  expectEveryCallToBeQuiet(place("every call", 1), opened());
}

static long pageFaults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// So many steps of a stream that begins anew where it is full.
static void takeSteps(const OpenedModel &opened, Stream &stream, int64_t steps) {
  for (int64_t step = 0; step < steps; ++step) {
    if (!stream.hasRoom()) {
      require("reset", stream.reset());
      for (int number = 1; number < opened.plan().stream_count; ++number)
        require("append", stream.advance(1, number));
    }
    require("step", stream.step());
  }
}

// 10^5 steps, of which none touches a page for the first time. The weights were packed when the model was opened.
static void expectNoPageFault(const std::string &name, const OpenedModel &opened) {
  if (!opened.hasStep())
    GTEST_SKIP() << name << " has no step";
  Stream stream(opened);
  Sequence sequence = opened.graph().randomSequence(std::vector<int64_t>(opened.graph().signature().axes.size(), 1), 1);
  for (int number = opened.plan().stream_count - 1; number >= 0; --number)
    stream.feed(sequence, 0, 1, number);
  for (int number = 1; number < opened.plan().stream_count; ++number)
    require("append", stream.advance(1, number));
  takeSteps(opened, stream, 1000);
  const long before = pageFaults();
  takeSteps(opened, stream, 100000);
  EXPECT_EQ(pageFaults() - before, 0) << name;
}

TEST_P(real_time_of_golden_cases, resident_weights_and_state_take_no_page_fault) {
  SKIP_WITH_A_SANITIZER();
  expectNoPageFault(law().name, opened());
}

TEST(real_time_of_streams, resident_weights_and_state_take_no_page_fault) {
  SKIP_WITH_A_SANITIZER();
  for (const char *name : {"windowed_encoder", "windowed_blocks"})
    expectNoPageFault(name, LawModel::of(lawGraph(name), *hostTarget()).opened);
}
#endif

#if defined(__SSE__)
/// Bits of MXCSR that a caller may have set: denormals are zero, going in and coming out, as audio and games set it;
/// sums are rounded up.
constexpr unsigned flushToZero = 0x8040, roundUp = 0x4000;

class FloatMode {
public:
  explicit FloatMode(unsigned bits) : bits_(bits), before_(_mm_getcsr()) { _mm_setcsr(before_ | bits); }
  ~FloatMode() { _mm_setcsr(before_); }
  bool isSet() const { return _mm_getcsr() == (before_ | bits_); }

private:
  unsigned bits_, before_;
};

TEST_P(real_time, results_do_not_depend_on_the_callers_floating_point_mode) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  Sequence sequence = randomSequence(33, 2);
  for (InputValues &input : sequence.inputs) // from 1 down to what is no longer a normal number, row after row
    for (size_t i = 0, width = input.floats.size() / 33; i < input.floats.size(); ++i)
      input.floats[i] *= std::ldexp(1.0f, -int(i / width) * 5);
  Outputs expected = forward(opened(), sequence);
  OpenedModel threaded(model().compiled, model().graph, model().weights, nullptr, /*threads=*/3);
  for (const OpenedModel *model : {&opened(), &static_cast<const OpenedModel &>(threaded)})
    for (unsigned bits : {0u, flushToZero, roundUp}) {
      ForwardCall call(*model, sequence);
      {
        FloatMode mode(bits);
        require("forward", call.run());
        EXPECT_TRUE(mode.isSet()) << "the caller's mode is another after a call\nrerun: " << rerunCommand();
      }
      std::string entry = "forward in mode " + std::to_string(bits) + (model == &opened() ? "" : " on 3 threads");
      if (!expectSameOutputs(entry, 2, call.results()[0], expected))
        return;
    }
  if (!opened().hasStep() || isOnDevice())
    return;
  Stream stream(opened(), 33), other(opened(), 33);
  stream.appendContexts(sequence);
  other.appendContexts(sequence);
  for (int64_t row = 0; row < 20; ++row) {
    Outputs ordinary = stream.step(sequence, row), got;
    {
      FloatMode mode(flushToZero | roundUp);
      got = other.step(sequence, row);
      EXPECT_TRUE(mode.isSet()) << "the caller's mode is another after a step\nrerun: " << rerunCommand();
    }
    if (!expectSameOutputs("step " + std::to_string(row + 1), 2, got, ordinary))
      return;
  }
}
#endif

// ---- Denormals

BURIN_LAW(real_time_of_decaying_streams, [](const LawGraph &graph) { return graph.streams; });

// A stream whose samples decay into denormals, and stay there, is less than twice as slow as one of ordinary samples:
// by 99.9th percentiles over the steps, which of so few is the slowest. Of each step the shortest of some rounds
// counts, in which the two streams take turns. What else a machine does only ever adds to a time, so where the promise
// does not show in some rounds there are more: a step that denormals slow has no short round, however many there are.
TEST_P(real_time_of_decaying_streams, denormals_do_not_slow_them) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  SKIP_ON_DEVICE("a step's time is that of its driver");
  SKIP_WITH_A_SANITIZER();
  constexpr int64_t rows = 48, rounds = 100, mostRounds = 2000;
  constexpr double resolution = 100e-9; // of the clock, seconds
  Sequence ordinary = randomSequence(rows, 3), decaying = ordinary;
  for (InputValues &input : decaying.inputs)
    for (size_t i = 0, width = input.floats.size() / rows; i < input.floats.size(); ++i)
      input.floats[i] = std::ldexp(input.floats[i], -std::min(int(i / width) * 16, 134));
  Stream stream(opened());
  std::vector<double> shortest[2] = {std::vector<double>(rows, 1e9), std::vector<double>(rows, 1e9)};
  auto slowest = [&](int isDecaying) { return *llvm::max_element(shortest[isDecaying]); };
  auto holds = [&] { return slowest(1) < 2 * slowest(0) + resolution; };
  for (int64_t round = 0; round < mostRounds && (round < rounds || !holds()); ++round)
    for (int isDecaying : {0, 1}) {
      const Sequence &sequence = isDecaying ? decaying : ordinary;
      require("reset", stream.reset());
      for (int64_t row = 0; row < rows && stream.hasRoom(); ++row) {
        for (int number = 1; number < opened().plan().stream_count; ++number) {
          stream.feed(sequence, row, 1, number);
          require("append", stream.advance(1, number));
        }
        stream.feed(sequence, row);
        auto start = std::chrono::steady_clock::now();
        burin_status status = stream.step();
        std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        require("step", status);
        shortest[isDecaying][row] = std::min(shortest[isDecaying][row], seconds.count());
      }
    }
  ASSERT_LT(slowest(0), 1) << "a step was never taken";
  if (!holds())
    fail(place("steps that decay into denormals", 3), "the slowest takes " + std::to_string(slowest(1) * 1e6) +
                                                          " us, of ordinary samples " +
                                                          std::to_string(slowest(0) * 1e6));
}
