// A model without an operating system: its object and the bare runtime link with the listed functions and nothing else,
// and the program computes what it computes with an operating system, bit for bit.
//
// For every target that this machine runs, by itself or by the row's runner, and has a C compiler for. Where the target
// is not this machine's, the runtime's sources are compiled here.
#include "emit/runtime.h"
#include "schedules/targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Triple.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <sys/wait.h>

using namespace burin;

namespace {

struct Output {
  int status;
  std::string text;
};

/// What a shell command printed, on either stream.
Output run(const std::string &command) {
  Output output{-1, ""};
  FILE *pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
  for (int c; pipe && (c = std::fgetc(pipe)) != EOF;)
    output.text += char(c);
  int status = pipe ? pclose(pipe) : -1;
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

/// The compiler driver's name in Debian and elsewhere: the triple without its vendor, and -gcc.
std::string compilerOf(const Target &target) {
  llvm::Triple triple(target.triple);
  return (triple.getArchName() + "-" + triple.getOSAndEnvironmentName() + "-gcc").str();
}

std::string startOf(const Target &target) {
  return (BURIN_LINK_BARE_FOLDER "/start_" + llvm::Triple(target.triple).getArchName() + ".c").str();
}

/// The policy of one target, compiled, with its packed weights and the archives of both runtimes, in a folder.
class Build {
public:
  explicit Build(const Target &target) : target_(target) {
    llvm::SmallString<128> folder;
    if (llvm::sys::fs::createUniqueDirectory("burin-bare", folder))
      failure_ = "a temporary folder cannot be made";
    folder_ = folder.str().str();
    std::string name = target.name.str(), compile = compilerOf(target);
    do_("cd " + folder_ + " && " BURIN_POLICY_GENERATOR " compile -o . --runtime bare --target " + name);
    do_("cd " + folder_ + " && " BURIN_POLICY_GENERATOR " init -o policy.safetensors --seed 1");
    do_("cd " + folder_ +
        " && " BURIN_POLICY_GENERATOR " pack --weights policy.safetensors -o policy.packed --target " + name);
    if (runsHere(target)) {
      archives_ = {{Runtime::hosted, BURIN_RUNTIME_ARCHIVE}, {Runtime::bare, BURIN_RUNTIME_BARE_ARCHIVE}};
      return;
    }
    // docs/bare.md says why.
    std::string bareOptions = BURIN_BARE_OPTIONS;
    bareOptions += target.triple.starts_with("aarch64") ? " -mno-outline-atomics" : "";
    for (auto [runtime, sources, options] : {std::tuple(Runtime::hosted, BURIN_RUNTIME_SOURCES, std::string()),
                                             std::tuple(Runtime::bare, BURIN_RUNTIME_BARE_SOURCES, bareOptions)}) {
      std::string archive = archiveNameOf(runtime).str();
      do_("cd " BURIN_RUNTIME_FOLDER " && objects=$(mktemp -d) && for source in " + std::string(sources) + "; do " +
          compile + " -std=c99 -O2 -fPIC " + options + " -c $source -o $objects/$source.o || exit 1; done && ar rcs " +
          folder_ + "/" + archive + " $objects/*.o && rm -r $objects");
      archives_[runtime] = folder_ + "/" + archive;
    }
  }
  ~Build() { llvm::sys::fs::remove_directories(folder_); }
  Build(const Build &) = delete;

  const std::string &failure() const { return failure_; }
  const std::string &folder() const { return folder_; }
  const std::string &archive(Runtime runtime) const { return archives_.at(runtime); }
  std::string object() const { return folder_ + "/policy.o"; }

  /// What the program prints with this runtime.
  Output outputWith(Runtime runtime) const {
    bool isBare = runtime == Runtime::bare;
    std::string program = folder_ + (isBare ? "/bare" : "/hosted"),
                common = compilerOf(target_) + " -std=gnu99 -O1 -Wall -Wextra -Werror -I. -I" BURIN_RUNTIME_FOLDER " ",
                ours = BURIN_LINK_BARE_FOLDER;
    std::string link =
        isBare ? common +
                     "-ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns -fno-stack-protector -nostdlib "
                     "-static -no-pie " +
                     startOf(target_) + " " + ours + "/shim.c "
               : common + "-static " + ours + "/hosted.c ";
    Output linked =
        run("cd " + folder_ + " && " + link + ours + "/program.c policy.o " + archive(runtime) + " -o " + program);
    if (linked.status != 0)
      return linked;
    return run((runsHere(target_) ? "" : target_.runner.str() + " ") + program);
  }

private:
  void do_(const std::string &command) {
    if (!failure_.empty())
      return;
    Output output = run(command);
    if (output.status != 0)
      failure_ = command + "\n" + output.text;
  }

  const Target &target_;
  std::string folder_, failure_;
  std::map<Runtime, std::string> archives_;
};

class link_bare : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    const Target &target = *findTarget(GetParam());
    if (!runsHere(target) && (target.runner.empty() || !llvm::sys::findProgramByName(target.runner.split(' ').first)))
      GTEST_SKIP() << GetParam() << " does not run on this machine, and its runner '" << target.runner.str()
                   << "' is not installed";
    if (!llvm::sys::findProgramByName(compilerOf(target)))
      GTEST_SKIP() << compilerOf(target) << " is not installed";
    if (!llvm::sys::fs::exists(startOf(target)))
      GTEST_SKIP() << "there is no start code for " << target.triple.str();
    std::unique_ptr<Build> &build = builds()[GetParam()];
    if (!build)
      build = std::make_unique<Build>(target);
    ASSERT_EQ(build->failure(), "");
  }
  static void TearDownTestSuite() { builds().clear(); }
  const Build &build() { return *builds()[GetParam()]; }

private:
  static std::map<std::string, std::unique_ptr<Build>> &builds() {
    static std::map<std::string, std::unique_ptr<Build>> all;
    return all;
  }
};

std::vector<std::string> preferredTargets() {
  std::vector<std::string> names;
  for (const Target &target : allTargets())
    if (target.preference > 0)
      names.push_back(target.name.str());
  return names;
}
INSTANTIATE_TEST_SUITE_P(, link_bare, testing::ValuesIn(preferredTargets()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// The global symbols of an object or an archive: what they define, what they need.
struct Symbols {
  std::set<std::string> defined, undefined;

  void read(const std::string &path) {
    auto buffer = llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path, false, false)));
    if (llvm::StringRef(path).ends_with(".o"))
      return add(buffer->getMemBufferRef());
    auto archive = llvm::cantFail(llvm::object::Archive::create(buffer->getMemBufferRef()));
    llvm::Error error = llvm::Error::success();
    for (const llvm::object::Archive::Child &member : archive->children(error))
      add(llvm::cantFail(member.getMemoryBufferRef()));
    llvm::cantFail(std::move(error));
  }

private:
  void add(llvm::MemoryBufferRef memory) {
    auto object = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(memory));
    for (const llvm::object::SymbolRef &symbol : object->symbols()) {
      uint32_t flags = llvm::cantFail(symbol.getFlags());
      std::string name = llvm::cantFail(symbol.getName()).str();
      if (!name.empty() && (flags & llvm::object::SymbolRef::SF_Undefined))
        undefined.insert(name);
      else if (flags & llvm::object::SymbolRef::SF_Global)
        defined.insert(name);
    }
  }
};

TEST_P(link_bare, object_and_runtime_need_only_listed_functions) {
  Symbols symbols;
  symbols.read(build().object());
  symbols.read(build().archive(Runtime::bare));
  std::set<std::string> allowed{"_GLOBAL_OFFSET_TABLE_"}; // made by the linker
  for (const BareSymbol &symbol : bareSymbols())
    allowed.insert(symbol.name.str());
  std::vector<std::string> offenders;
  for (const std::string &name : symbols.undefined)
    if (!symbols.defined.count(name) && !allowed.count(name))
      offenders.push_back(name);
  EXPECT_EQ(llvm::join(offenders, " "), "") << "not in runtime/bare_symbols.def";
  EXPECT_TRUE(symbols.defined.count("burin_rt_open"));
}

/// Numbers of a line of the program, from their bits.
std::vector<float> floatsOf(llvm::StringRef line) {
  std::vector<float> values;
  llvm::SmallVector<llvm::StringRef> words;
  line.split(words, ' ');
  for (llvm::StringRef word : words) {
    uint32_t bits;
    if (word.size() == 8 && !word.getAsInteger(16, bits)) {
      values.emplace_back();
      std::memcpy(&values.back(), &bits, sizeof bits);
    }
  }
  return values;
}

TEST_P(link_bare, same_output_as_with_an_operating_system) {
  Output bare = build().outputWith(Runtime::bare), hosted = build().outputWith(Runtime::hosted);
  ASSERT_EQ(hosted.status, 0) << hosted.text;
  EXPECT_EQ(bare.status, 0) << bare.text;
  EXPECT_EQ(bare.text, hosted.text);

  // And this is what a policy says: finite numbers; after all samples those of forward, up to rounding; the same from a
  // copy of the weights.
  std::map<std::string, std::vector<std::vector<float>>> rows;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(bare.text).split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (std::vector<float> values = floatsOf(line); values.size() == 12)
      rows[line.take_until([](char c) { return c == ' '; }).str()].push_back(values);
  ASSERT_EQ(rows["forward"].size(), 2u) << bare.text;
  ASSERT_EQ(rows["advance"].size(), 46u) << bare.text;
  for (size_t column = 0; column < 12; ++column) {
    float expected = rows["forward"][0][column], got = rows["advance"][22][column];
    EXPECT_TRUE(std::isfinite(expected) && std::abs(expected - got) <= 1e-4f)
        << "column " << column << ": advance gives " << got << ", forward " << expected;
  }
  EXPECT_EQ(rows["forward"][0], rows["forward"][1]) << "of a copy";
  for (size_t row = 0; row < 23; ++row)
    EXPECT_EQ(rows["advance"][row], rows["advance"][row + 23]) << "row " << row << " of a copy";
}

TEST_P(link_bare, what_is_refused_is_said) {
  std::string text = build().outputWith(Runtime::bare).text;
  for (const char *sentence :
       {"weights cut off: the packed file has ", "header cut off: the packed file has 100 bytes, fewer than the ",
        "memory too small: the memory for the model has 127 bytes, expected 128\n",
        "no memory for a copy: the memory for the model has 128 bytes, expected ",
        "memory misaligned: the memory for the model is not 64-byte aligned\n",
        "weights misaligned: the bytes of the packed file are to stay in place, but are not 64-byte aligned\n",
        "weights damaged: the weights in the packed file are damaged: their content hash is "})
    EXPECT_NE(text.find(sentence), std::string::npos) << sentence << "\nis not in\n" << text;
}

TEST_P(link_bare, the_object_is_the_same_as_with_an_operating_system) {
  Output output = run("cd " + build().folder() + " && " BURIN_POLICY_GENERATOR " compile -o hosted_folder --target " +
                      GetParam() + " && cmp policy.o hosted_folder/policy.o");
  EXPECT_EQ(output.status, 0) << output.text;
}

} // namespace

int main(int argc, char **argv) {
  setenv("BURIN_KERNEL_CACHE", BURIN_TEST_KERNEL_CACHE, /*overwrite=*/0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
