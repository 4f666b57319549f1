// What processors, which an emulator stands for, make of objects for several targets and for targets with features:
// each opens what it can run, and gets a status where that is nothing.
#include "compiled_graph.h"
#include "dsl/layers.h"
#include "mismatch.h"
#include "schedules/target_features.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"
#include "gtest/gtest.h"

using namespace burin;
using namespace burin::laws;

// ---- Lesser processors, by isa_program.c

namespace {
struct Answer {
  int status;
  std::vector<std::string> lines; // of stdout
};
} // namespace

static Answer runProgram(const std::string &prefix, const std::string &isa = "") {
  std::string command = prefix + " " BURIN_ISA_PROGRAM " " BURIN_ISA_WEIGHTS " " + isa;
  FILE *pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (size_t count; pipe && (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, count);
  Answer run{pipe ? WEXITSTATUS(pclose(pipe)) : -1, {}};
  for (llvm::StringRef line : llvm::split(llvm::StringRef(text).rtrim(), '\n'))
    run.lines.push_back(line.str());
  return run;
}

class processors : public testing::Test {
protected:
  void SetUp() override {
    if (std::string(BURIN_ISA_PROGRAM).empty())
      GTEST_SKIP() << "the emulator runs a static program, which a build with a sanitizer has none of";
    if (!llvm::sys::findProgramByName("qemu-x86_64"))
      GTEST_SKIP() << "qemu-x86_64 is missing: Debian's package qemu-user";
  }

  /// The emulated processor chooses `target` and gives the bits that this one gives when it is made to run it.
  static void expectChosen(const std::string &cpu, const std::string &target) {
    Answer emulated = runProgram("qemu-x86_64 -cpu " + cpu);
    ASSERT_EQ(emulated.status, 0) << llvm::join(emulated.lines, "\n");
    ASSERT_EQ(emulated.lines.size(), 3u);
    EXPECT_EQ(emulated.lines[0], "isa " + target);
    if (!runsHere(*findTarget(target)))
      GTEST_SKIP() << target << ": this machine cannot run its code, with which to compare";
    Answer here = runProgram("env", target);
    ASSERT_EQ(here.status, 0) << llvm::join(here.lines, "\n");
    EXPECT_EQ(emulated.lines, here.lines);
  }
};

TEST_F(processors, without_sse41_get_a_status) {
  Answer run = runProgram("qemu-x86_64 -cpu Conroe");
  EXPECT_EQ(run.status, 1);
  ASSERT_EQ(run.lines.size(), 1u);
  EXPECT_EQ(run.lines[0], "open: status " + std::to_string(BURIN_CPU_UNSUPPORTED) +
                              ": this processor, or its operating system, lacks what each of the targets "
                              "'x86-64-avx512', 'x86-64-avx2' and 'x86-64-sse41' needs");
}

TEST_F(processors, with_sse41_alone_run_that) { expectChosen("Nehalem", "x86-64-sse41"); }

TEST_F(processors, with_avx_but_not_avx2_run_sse41) { expectChosen("SandyBridge", "x86-64-sse41"); }

TEST_F(processors, with_avx2_run_that) { expectChosen("Haswell", "x86-64-avx2"); }

// The processor has AVX2, but its operating system does not say that it saves the registers.
TEST_F(processors, whose_operating_system_does_not_save_avx_run_sse41) {
  expectChosen("Haswell,-xsave", "x86-64-sse41");
}

TEST_F(processors, are_made_to_run_less_by_the_environment) {
  Answer here = runProgram("env BURIN_ISA=x86-64-sse41"), emulated = runProgram("qemu-x86_64 -cpu Nehalem");
  EXPECT_EQ(here.lines, emulated.lines);
  Answer unknown = runProgram("env BURIN_ISA=x86-64-avx");
  EXPECT_EQ(unknown.status, 1);
  ASSERT_EQ(unknown.lines.size(), 1u);
  EXPECT_EQ(unknown.lines[0].rfind("open: status " + std::to_string(BURIN_NO_SUCH_ISA) +
                                       ": the variable BURIN_ISA asks for 'x86-64-avx', but the object holds ",
                                   0),
            0u)
      << unknown.lines[0];
}

TEST_F(processors, are_not_made_to_run_what_they_lack) {
  Answer run = runProgram("qemu-x86_64 -cpu Nehalem", "x86-64-avx2");
  ASSERT_EQ(run.lines.size(), 1u);
  EXPECT_EQ(run.lines[0],
            "open: status " + std::to_string(BURIN_CPU_UNSUPPORTED) +
                ": the open option isa asks for 'x86-64-avx2', for which this processor, or its operating "
                "system, lacks something; of what the object holds, this processor runs 'x86-64-sse41'");
}

// ---- Processors of other architectures, which differ in what their makers put in

namespace {
/// What a processor that the emulator stands for makes of a model: how it is opened, and what forward gives then.
struct Opened {
  burin_status status = BURIN_OK;
  std::string message, target;
  std::vector<float> y;
};
} // namespace

static Opened openedOn(llvm::StringLiteral runner, const std::string &targets) {
  CompileOptions options;
  TemporaryFolder folder;
  options.target = targets;
  options.outputFolder = folder.path();
  Graph g("small");
  Tensor x = g.input("x", {g.time("time", {.max = 9}), 5});
  g.output("y", multi_head_self_attention(x, {.d_model = 5, .heads = 1, .causal = true}));
  DeclaredGraph graph(std::move(g));
  CompileResult compiled = compile(graph, options);
  Target target = *compiled.plan.target;
  target.runner = runner;
  compiled.plan.target = &target;
  std::unique_ptr<LoadedModel> loaded = llvm::cantFail(LoadedModel::load(compiled));
  std::string weights = graph.fileOf(graph.randomWeights(1));
  char message[512] = "";
  burin_open_options open = {};
  open.weights = weights.data();
  open.weights_bytes = weights.size();
  open.message = message;
  open.message_bytes = sizeof message;
  Opened opened;
  std::unique_ptr<ModelCalls> calls = loaded->open(open, opened.status);
  opened.message = message;
  if (!calls)
    return opened;
  opened.target = calls->target().str();
  const int64_t rows = 7;
  std::vector<float> values(rows * 5);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i * 7 % 13) / 4 - 1.5f;
  opened.y.resize(rows * 5);
  size_t bytes = loaded->scratchBytes(&rows, 1);
  std::vector<char> scratch(bytes + 64);
  const void *inputs[] = {values.data()};
  void *outputs[] = {opened.y.data()};
  void *aligned = scratch.data() + 64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64;
  opened.status = calls->forward(aligned, bytes, &rows, inputs, outputs);
  return opened;
}

class arm_processors : public testing::Test {
protected:
  void SetUp() override {
    if (std::string why = whyNotRunnable(*findTarget("arm-64")); !why.empty())
      GTEST_SKIP() << why;
  }
};

TEST_F(arm_processors, without_a_feature_get_a_status) {
  for (const TargetFeature &feature : allTargetFeatures()) {
    if (feature.target != "arm-64")
      continue;
    Opened opened = openedOn("qemu-aarch64 -cpu cortex-a53", nameWithFeature(feature));
    EXPECT_EQ(opened.status, BURIN_CPU_UNSUPPORTED) << opened.message;
    EXPECT_EQ(opened.message,
              "this processor, or its operating system, lacks what target '" + nameWithFeature(feature) + "' needs");
  }
}

TEST_F(arm_processors, with_the_features_give_the_bits_that_all_give) {
  Opened plain = openedOn("qemu-aarch64 -cpu cortex-a53", "arm-64");
  ASSERT_EQ(plain.status, BURIN_OK) << plain.message;
  for (const char *name : {"arm-64-dot_prod", "arm-64-fp16", "arm-64-dot_prod-fp16"}) {
    Opened opened = openedOn("qemu-aarch64 -cpu cortex-a76", name);
    ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
    EXPECT_EQ(opened.target, name);
    EXPECT_TRUE(opened.y == plain.y) << name;
  }
}

// The first is refused code for the feature alone, so it is given the other.
TEST_F(arm_processors, of_either_kind_open_an_object_for_both) {
  Opened plain = openedOn("qemu-aarch64 -cpu cortex-a53", "arm-64");
  const std::pair<llvm::StringLiteral, llvm::StringLiteral> cases[] = {
      {"qemu-aarch64 -cpu cortex-a53", "arm-64"}, {"qemu-aarch64 -cpu cortex-a76", "arm-64-dot_prod"}};
  for (auto [runner, target] : cases) {
    Opened opened = openedOn(runner, "arm-64,arm-64-dot_prod");
    ASSERT_EQ(opened.status, BURIN_OK) << runner.str() << ": " << opened.message;
    EXPECT_EQ(opened.target, target) << runner.str();
    EXPECT_TRUE(opened.y == plain.y) << runner.str();
  }
}

class riscv_processors : public testing::Test {
protected:
  void SetUp() override {
    if (std::string why = whyNotRunnable(*findTarget("riscv-64")); !why.empty())
      GTEST_SKIP() << why;
  }
};

TEST_F(riscv_processors, with_vectors_of_128_bits_open_it) {
  Opened opened = openedOn("qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0", "riscv-64");
  EXPECT_EQ(opened.status, BURIN_OK) << opened.message;
}

// The code stores whole registers: with wider ones it would write beyond a vector.
TEST_F(riscv_processors, with_vectors_of_256_bits_get_a_status) {
  Opened opened = openedOn("qemu-riscv64 -cpu rv64,v=true,vlen=256,vext_spec=v1.0", "riscv-64");
  EXPECT_EQ(opened.status, BURIN_CPU_UNSUPPORTED);
  EXPECT_EQ(opened.message, "this processor, or its operating system, lacks what target 'riscv-64' needs");
}

TEST_F(riscv_processors, without_vectors_get_a_status) {
  Opened opened = openedOn("qemu-riscv64 -cpu rv64", "riscv-64");
  EXPECT_EQ(opened.status, BURIN_CPU_UNSUPPORTED);
  EXPECT_EQ(opened.message, "this processor, or its operating system, lacks what target 'riscv-64' needs");
}
