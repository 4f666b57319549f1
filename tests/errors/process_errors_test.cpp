// What is said where a program that the compiler starts fails: a worker that compiles a kernel, a linker. This program
// is its own worker, which does what a variable of the environment says.
#include "emit/compile_kernels.h"
#include "emit/kernel_worker.h"
#include "emit/link_modules.h"
#include "emit/run_tool.h"
#include "emit/runtime.h"
#include "emit/worker_processes.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace burin;

namespace {

constexpr const char *behaviour = "BURIN_TEST_WORKER";

class Variable {
public:
  Variable(const char *name, const std::string &value) : name_(name) {
    if (const char *before = std::getenv(name))
      before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

private:
  const char *name_;
  std::optional<std::string> before_;
};

/// What the variable says, in place of a kernel's compilation.
int misbehave(llvm::StringRef) {
  const std::string does = std::getenv(behaviour);
  if (does == "work")
    for (std::clock_t start = std::clock(); std::clock() - start < 60 * CLOCKS_PER_SEC;)
      continue;
  if (does == "wait")
    sleep(3);
  if (does == "complain")
    std::fputs("there is no such thing\n", stderr);
  if (does == "crash")
    std::abort();
  if (does == "end all")
    kill(getppid(), SIGKILL);
  return 3;
}

std::string saidOf(llvm::Error error) { return llvm::toString(std::move(error)); }

std::string saidOfWorker(const std::string &does, unsigned timeLimitSeconds = 120) {
  Variable variable(behaviour, does);
  KernelCompileOptions options;
  options.useCache = false;
  options.timeLimitSeconds = timeLimitSeconds;
  auto result = compileKernels(KernelSource{.symbol = "small", .function = "kernel", .module = "module {}"},
                               *findTarget("generic-x86-64"), options);
  return result ? "" : saidOf(result.takeError());
}

TEST(Worker, that_takes_too_long_is_ended) {
  std::string said = saidOfWorker("work", 1);
  EXPECT_NE(said.find("took longer than 1 s to compile"), std::string::npos) << said;
  EXPECT_NE(said.find("small"), std::string::npos) << said;
}

// On a machine that others use, a good kernel may wait for its turn as long as it likes.
TEST(Worker, that_waits_is_not) {
  std::string said = saidOfWorker("wait", 1);
  EXPECT_NE(said.find("the worker ended with status 3"), std::string::npos) << said;
}

TEST(Worker, that_ends_in_silence_is_told_by_its_status) {
  std::string said = saidOfWorker("fail");
  EXPECT_NE(said.find("the worker ended with status 3"), std::string::npos) << said;
}

TEST(Worker, that_crashes_is_told_by_its_signal) {
  std::string said = saidOfWorker("crash");
  EXPECT_NE(said.find("the worker was ended by signal 6 (Aborted)"), std::string::npos) << said;
}

TEST(Workers, that_lose_what_starts_them_are_told) {
  std::string said = saidOfWorker("end all");
  EXPECT_NE(said.find("the process that starts workers has ended"), std::string::npos) << said;
}

TEST(Worker, says_itself_what_is_wrong) {
  std::string said = saidOfWorker("complain");
  EXPECT_NE(said.find("there is no such thing"), std::string::npos) << said;
}

// Somebody installed another compiler over the one that runs.
TEST(Worker, that_is_gone_cannot_be_started) {
  namespace fs = std::filesystem;
  const fs::path copy = testing::TempDir() + "burin_worker_" + std::to_string(getpid());
  fs::copy_file("/proc/self/exe", copy, fs::copy_options::overwrite_existing);
  const std::string said = saidOf(runTool({copy.string(), "--remove-yourself"}));
  EXPECT_NE(said.find("kernel small: cannot start a worker: "), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(copy));
}

TEST(Processes, need_a_folder_for_temporary_files) {
  Variable variable("TMPDIR", testing::TempDir() + "that/is/not/there");
  auto result = compileKernels({}, *findTarget("generic-x86-64"));
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(saidOf(result.takeError()).find("cannot make a temporary folder: "), 0u);
  EXPECT_EQ(saidOf(runTool({"true"})), "no temporary file");
}

TEST(Tool, that_fails_is_told_with_what_it_printed) {
  EXPECT_EQ(saidOf(runTool({"true"})), "");
  EXPECT_EQ(saidOf(runTool({"sh", "-c", "echo reason; exit 1"})), "'sh' failed: reason");
  EXPECT_EQ(saidOf(runTool({"burin-has-no-such-tool"})), "'burin-has-no-such-tool' is not installed");
}

TEST(BareObject, that_needs_a_function_of_a_system_is_refused) {
  const std::string base = testing::TempDir() + "burin_bare_object_" + std::to_string(getpid());
  std::ofstream(base + ".c") << "void exit(int); void leave(void) { exit(1); }";
  ASSERT_EQ(saidOf(runTool({"cc", "-c", base + ".c", "-o", base + ".o"})), "");
  EXPECT_EQ(saidOf(checkBareObject(base + ".o")),
            base + ".o needs exit, which a program without an operating system is not asked to provide");
  std::remove((base + ".c").c_str());
  std::remove((base + ".o").c_str());
}

/// A module with a function of that name.
std::unique_ptr<llvm::Module> moduleWith(const std::string &function, llvm::LLVMContext &context) {
  auto module = std::make_unique<llvm::Module>("some", context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto *defined = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, function, *module);
  llvm::IRBuilder<>(llvm::BasicBlock::Create(context, "", defined)).CreateRetVoid();
  return module;
}

TEST(KernelModule, that_cannot_be_linked_is_refused_by_name) {
  const std::string path = testing::TempDir() + "burin_bitcode_" + std::to_string(getpid());
  KernelObject kernel;
  kernel.symbol = "some_kernel";
  kernel.path = path;
  llvm::LLVMContext context;
  auto said = [&](const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return saidOf(linkModules(*moduleWith("some_open", context), kernel, {}));
  };
  EXPECT_EQ(said("no bitcode").find("the bitcode of kernel 'some_kernel'"), 0u) << said("no bitcode");
  std::string clash;
  llvm::raw_string_ostream stream(clash);
  llvm::WriteBitcodeToFile(*moduleWith("some_open", context), stream);
  EXPECT_EQ(said(clash),
            "kernel 'some_kernel' does not link with the tables: Linking globals named 'some_open': symbol "
            "multiply defined!");
  std::remove(path.c_str());
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "--remove-yourself") {
    std::remove(argv[0]);
    std::fputs(saidOfWorker("").c_str(), stderr);
    return 1;
  }
  if (isKernelWorker(argc, argv))
    return serveJobs(unsigned(std::atoi(argv[2])), misbehave);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
