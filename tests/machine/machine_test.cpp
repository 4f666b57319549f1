// A model in an emulator: what is said where it cannot be started, where it ends, and where it says what it may not.
#include "compiled_graph.h"
#include "dsl/layers.h"
#include "machine/server_process.h"
#include "tools/commands.h"
#include "llvm/ADT/StringExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <csignal>
#include <fstream>
#include <unistd.h>

using namespace burin;
using namespace burin::laws;
using testing::AllOf;
using testing::HasSubstr;

/// What went wrong in the other process during `call`; empty where nothing did.
static std::string errorIn(llvm::function_ref<void()> call) {
  try {
    call();
  } catch (const MachineError &error) {
    return error.what();
  }
  return "";
}

static std::string errorOfServer(const std::string &script) {
  return errorIn([&] {
    ServerProcess server({"sh", "-c", script}, "the server");
    server.greeting();
    server.ask({.kind = BURIN_REQUEST_STEP}, {});
  });
}

/// A reply, as octal escapes for printf, of small numbers.
static const std::string eight = "\\000\\000\\000\\000\\000\\000\\000\\000", emptyReply = eight + eight + eight;

TEST(server_process, that_is_not_there_is_named) {
  EXPECT_EQ(errorIn([] { ServerProcess server({"burin-no-such-program"}, "the server"); }),
            "the server cannot be started with 'burin-no-such-program': No such file or directory");
}

TEST(server_process, that_ends_is_told_with_its_status) {
  EXPECT_EQ(errorOfServer("exit 3"), "the server ended with status 3 while it started");
  EXPECT_EQ(errorOfServer("kill -SEGV $$"), "the server was ended by signal 11 (Segmentation fault) while it started");
  EXPECT_EQ(errorOfServer("printf '" + emptyReply + "'; head -c 8 > /dev/null; exit 4"),
            "the server ended with status 4 while it ran step");
}

TEST(server_process, that_talks_nonsense_is_not_believed) {
  EXPECT_EQ(errorOfServer("printf '" + eight + eight + "\\101\\000\\000\\000\\000\\000\\000\\000'"),
            "the server replied with 65 blocks, expected at most 64");
  EXPECT_EQ(errorOfServer("printf '" + eight + eight + "\\001\\000\\000\\000\\000\\000\\000\\000" +
                          "\\000\\000\\000\\000\\000\\001\\000\\000'"),
            "the server replied with a block of 1099511627776 bytes, expected at most 4294967296");
}

// ---- With an emulator

static Graph smallGraph() {
  Graph g("small");
  Tensor x = g.input("x", {g.time("time", {.max = 9}), 5});
  g.output("y", multi_head_self_attention(x, {.d_model = 5, .heads = 1, .causal = true}));
  return g;
}

/// The first target that is emulated here; null where there is none.
static const Target *emulatedTarget() {
  for (const Target &target : allTargets())
    if (!isInThisProcess(target) && whyNotRunnable(target).empty())
      return &target;
  return nullptr;
}

/// Targets of other architectures that something runs here, where it is installed.
static std::vector<std::string> foreignTargets() {
  std::vector<std::string> names;
  for (const Target &target : allTargets())
    if (!sharesArchitecture(target) && !target.runner.empty())
      names.push_back(target.name.str());
  return names;
}

class emulated_model : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    target_ = findTarget(GetParam());
    if (std::string why = whyNotRunnable(*target_); !why.empty())
      GTEST_SKIP() << why;
  }

  /// The process that the last emulated model was started in: this one's youngest child.
  static pid_t youngestChild() {
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    pid_t child = 0, last = 0;
    while (children >> child)
      last = child;
    return last;
  }

  const Target *target_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(, emulated_model, testing::ValuesIn(foreignTargets()), [](const auto &info) {
  std::string name = info.param;
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  return name;
});

TEST_P(emulated_model, says_what_is_wrong_with_weights_as_a_model_here_does) {
  DeclaredGraph graph(smallGraph());
  std::vector<std::string> messages;
  for (const Target *target : {target_, hostTarget()}) {
    CompiledGraph compiled(graph, *target);
    Weights weights = graph.randomWeights(1);
    weights.erase(weights.begin());
    SafetensorsWriter writer; // the graph's own writer would miss the parameter
    for (const GraphParameter &parameter : graph.signature().parameters)
      if (auto found = weights.find(parameter.name); found != weights.end())
        writer.add(parameter.name, parameter.shape, found->second);
    std::string file = writer.bytes();
    char message[512] = "";
    burin_open_options options = {};
    options.weights = file.data();
    options.weights_bytes = file.size();
    options.message = message;
    options.message_bytes = sizeof message;
    burin_status status = BURIN_OK;
    EXPECT_EQ(compiled.loaded().open(options, status), nullptr);
    EXPECT_EQ(status, BURIN_WEIGHTS_MISMATCH);
    messages.push_back(message);
  }
  EXPECT_NE(messages[0], "");
  EXPECT_EQ(messages[0], messages[1]);
}

TEST_P(emulated_model, cuts_a_message_to_the_room_that_there_is) {
  DeclaredGraph graph(smallGraph());
  CompiledGraph compiled(graph, *target_);
  char message[8] = "";
  burin_open_options options = {};
  options.weights = "none";
  options.weights_bytes = 4;
  options.message = message;
  options.message_bytes = sizeof message;
  burin_status status = BURIN_OK;
  compiled.loaded().open(options, status);
  EXPECT_EQ(status, BURIN_FILE_MALFORMED);
  EXPECT_EQ(strlen(message), 7u) << message;
}

TEST_P(emulated_model, whose_process_is_ended_says_so) {
  DeclaredGraph graph(smallGraph());
  CompiledGraph compiled(graph, *target_);
  OpenedModel model(compiled, graph, graph.randomWeights(1));
  Sequence sequence = graph.randomSequence({3}, 1);
  forward(model, sequence);
  kill(youngestChild(), SIGKILL);
  std::string what = "the program that runs 'small' on " + target_->name.str();
  EXPECT_EQ(errorIn([&] { forward(model, sequence); }),
            what + " was ended by signal 9 (Killed) while it was asked for the size of scratch");
  EXPECT_THAT(errorIn([&] { forward(model, sequence); }), HasSubstr(what + " has ended before"));
}

TEST_P(emulated_model, refuses_what_the_runtime_refuses) {
  DeclaredGraph graph(smallGraph());
  CompiledGraph compiled(graph, *target_);
  OpenedModel model(compiled, graph, graph.randomWeights(1));
  ForwardCall tooLong(model, graph.randomSequence({10}, 1));
  EXPECT_EQ(tooLong.run(), BURIN_TIME_OUT_OF_RANGE);
  const int64_t rows = 3;
  const size_t enough = compiled.loaded().scratchBytes(&rows, 1);
  Buffer scratch("scratch", enough, 64, Placement::anywhere);
  std::vector<float> x(15), y(15);
  const void *inputs[] = {x.data()}, *noInputs[] = {nullptr};
  void *outputs[] = {y.data()};
  EXPECT_EQ(model.calls().forward(scratch.as(), 64, &rows, inputs, outputs), BURIN_SCRATCH_TOO_SMALL);
  EXPECT_EQ(model.calls().forward(nullptr, enough, &rows, inputs, outputs), BURIN_NULL_POINTER);
  EXPECT_EQ(model.calls().forward(scratch.as(), enough, &rows, noInputs, outputs), BURIN_NULL_POINTER);
}

// The emulated program opens the file itself.
TEST_P(emulated_model, opens_a_file_by_its_path) {
  DeclaredGraph graph(smallGraph());
  CompiledGraph compiled(graph, *target_);
  TemporaryFolder folder;
  std::string path = folder.path() + "/weights.safetensors";
  std::ofstream(path) << graph.fileOf(graph.randomWeights(1));
  burin_open_options options = {};
  options.weights_path = path.c_str();
  burin_status status = BURIN_OK;
  EXPECT_NE(compiled.loaded().open(options, status), nullptr);
  EXPECT_EQ(status, BURIN_OK);
  options.weights_path = "/nowhere/weights.safetensors";
  EXPECT_EQ(compiled.loaded().open(options, status), nullptr);
  EXPECT_EQ(status, BURIN_FILE_UNREADABLE);
}

// ---- Which targets run

TEST(targets_that_run, without_their_runner_are_refused_with_its_package) {
  int foreign = 0;
  for (const Target &target : allTargets()) {
    if (sharesArchitecture(target) || target.runner.empty())
      continue;
    ++foreign;
    std::string package = target.packages.split(' ').first.str();
    Target lacking = target;
    lacking.runner = "burin-no-such-emulator -cpu max";
    EXPECT_THAT(whyNotRunnable(lacking), AllOf(HasSubstr("'" + target.name.str() + "' does not run on this machine"),
                                               HasSubstr("without 'burin-no-such-emulator'"), HasSubstr(package)));
    lacking = target;
    lacking.programLinker = "burin-no-such-gcc -static";
    EXPECT_THAT(whyNotRunnable(lacking), AllOf(HasSubstr("without '"), HasSubstr("not installed"), HasSubstr(package)));
  }
  EXPECT_GT(foreign, 0);
}

TEST(targets_that_run, in_an_emulator_are_not_timed) {
  const Target *target = emulatedTarget();
  if (!target)
    GTEST_SKIP() << "no emulator of any target is installed";
  EXPECT_TRUE(bool(targetThatRuns(target->name)));
  llvm::Expected<const Target *> timed = targetToTime(target->name);
  ASSERT_FALSE(bool(timed));
  EXPECT_THAT(
      llvm::toString(timed.takeError()),
      AllOf(HasSubstr("'" + target->name.str() + "' runs on this machine in an emulator"), HasSubstr("say nothing")));
}
