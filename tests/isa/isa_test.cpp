// One object for several targets of a processor: what it holds, that each gives the bits of its own object, that states
// go from one to another, and which instructions it is made of. processors_test.cpp has what processors make of it.
#include "compiled_graph.h"
#include "disassembly.h"
#include "dsl/layers.h"
#include "emit/object.h"
#include "mismatch.h"
#include "stream.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <set>

using namespace burin;
using namespace burin::laws;
using isa::Function;
using isa::Instruction;

/// The family whose members this file asks for, by what their instructions look like.
static const char family[] = "x86-64";

static std::vector<std::string> familyNames() {
  std::vector<std::string> names;
  for (const Target *target : llvm::cantFail(targetsNamed(family)))
    names.push_back(target->name.str());
  return names;
}

static std::string identifierOf(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  return name;
}

/// A kernel for the target, or its code for some numbers of rows.
static bool isFor(llvm::StringRef kernel, const std::string &target) {
  return kernel.ends_with(target) || kernel.contains(target + "_from_");
}

static const int64_t outputs = 48;

/// Contracts of whole panels on every target, attention, norms, a step.
static Graph encoder() {
  Graph g("isa");
  Tensor x = g.input("x", {g.time("time", {.max = 64}), 40});
  g.output("y", transformer_encoder(
                    x, {.d_model = 96, .heads = 3, .d_ff = 384, .depth = 1, .outputs = outputs, .causal = true}));
  return g;
}

/// Compiled once for the tests of the process.
struct Several {
  DeclaredGraph graph{encoder()};
  Weights weights = graph.randomWeights(1);
  CompiledGraph compiled{graph, family};

  static const Several &get() {
    static const Several several;
    return several;
  }
};

// ---- What the object holds

TEST(object_for_several_targets, holds_the_kernels_of_each_and_shows_the_entry_points_alone) {
  TemporaryFolder folder;
  CompileOptions options;
  options.target = family;
  options.outputFolder = folder.path();
  CompileResult result = compile(Several::get().graph, options);
  ASSERT_EQ(result.fallbacks.size(), familyNames().size() - 1);
  std::set<std::string> expected, visible;
  for (const std::string &name : entryPointsOf(result.plan))
    expected.insert("isa_" + name);
  auto file = llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(result.objectPath)));
  auto object = llvm::cantFail(llvm::object::ObjectFile::createELFObjectFile(file->getMemBufferRef()));
  std::map<std::string, int> kernelsOf;
  for (llvm::object::SymbolRef symbol : object->symbols()) {
    std::string name = llvm::cantFail(symbol.getName()).str();
    uint32_t flags = llvm::cantFail(symbol.getFlags());
    if (!(flags & llvm::object::SymbolRef::SF_Undefined) && (flags & llvm::object::SymbolRef::SF_Global))
      visible.insert(name);
    for (const std::string &target : familyNames())
      kernelsOf[target] += isFor(name, identifierOf({target, 0}));
  }
  EXPECT_EQ(visible, expected);
  for (auto &[target, kernels] : kernelsOf)
    EXPECT_GT(kernels, 5) << "kernels for " << target;
}

TEST(object_for_several_targets, links_its_plans_the_best_first) {
  std::vector<std::string> targets;
  for (const burin_plan *plan = &Several::get().compiled.plan(); plan; plan = plan->fallback) {
    targets.push_back(plan->target);
    EXPECT_EQ(plan->graph, Several::get().compiled.plan().graph);
  }
  EXPECT_EQ(targets, familyNames());
}

TEST(object_for_several_targets, is_the_same_twice_and_larger_than_for_one) {
  std::string bytes[3];
  for (int i = 0; i < 3; ++i) {
    TemporaryFolder folder;
    CompileOptions options;
    options.target = i < 2 ? family : familyNames()[0];
    options.outputFolder = folder.path();
    CompileResult result = compile(Several::get().graph, options);
    bytes[i] =
        llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(result.objectPath)))->getBuffer().str();
  }
  EXPECT_TRUE(bytes[0] == bytes[1]) << "the objects differ";
  EXPECT_GT(bytes[0].size(), 2 * bytes[2].size());
}

// ---- What it computes

class each_of_several : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    target = findTarget(GetParam());
    if (!runsHere(*target))
      GTEST_SKIP() << GetParam() << ": this machine cannot run its code";
  }
  Case place(const std::string &entry) const { return {"encoder", GetParam(), entry, seed}; }
  const uint64_t seed = 5;
  const Target *target = nullptr;
};
INSTANTIATE_TEST_SUITE_P(, each_of_several, testing::ValuesIn(familyNames()), identifierOf);

TEST_P(each_of_several, gives_the_bits_of_its_own_object) {
  const Several &several = Several::get();
  OpenedModel opened(several.compiled, several.graph, several.weights, target);
  EXPECT_EQ(opened.calls().target(), GetParam());
  CompiledGraph alone(several.graph, *target);
  OpenedModel expected(alone, several.graph, several.weights);
  Sequence sequence = several.graph.randomSequence({37}, seed);
  if (!expectSameBits(place("forward"), forward(opened, sequence)[0], forward(expected, sequence)[0], outputs))
    return;
  Stream stream(opened), expectedStream(expected);
  for (int64_t row = 0; row < 37; ++row)
    if (!expectSameBits(place("step " + std::to_string(row + 1)), stream.step(sequence, row)[0],
                        expectedStream.step(sequence, row)[0], outputs))
      return;
}

TEST_P(each_of_several, goes_on_from_the_states_of_the_others) {
  const Several &several = Several::get();
  OpenedModel opened(several.compiled, several.graph, several.weights, target);
  Sequence sequence = several.graph.randomSequence({37}, seed);
  Stream alone(opened);
  std::vector<Outputs> expected;
  for (int64_t row = 0; row < 37; ++row)
    expected.push_back(alone.step(sequence, row));
  for (const std::string &name : familyNames()) {
    const Target *other = findTarget(name);
    if (!runsHere(*other))
      continue;
    OpenedModel otherOpened(several.compiled, several.graph, several.weights, other);
    Stream before(otherOpened), stream(opened);
    for (int64_t row = 0; row < 33; ++row)
      before.step(sequence, row);
    require("state_load", stream.load(before.save()));
    for (int64_t row = 33; row < 37; ++row)
      if (!expectClose(place("step " + std::to_string(row + 1) + " after 33 of " + name), stream.step(sequence, row)[0],
                       llvm::ArrayRef(expected[row][0]), outputs))
        return;
  }
}

// ---- Its instructions

static bool usesRegister(const Instruction &instruction, const char *kind) {
  return instruction.operands.find(kind) != std::string::npos;
}

/// A packed product of a contract: multiplied and added, or multiplied alone.
static bool isProduct(const Instruction &instruction) {
  llvm::StringRef mnemonic = instruction.mnemonic;
  return (mnemonic.starts_with("vfmadd") && mnemonic.ends_with("ps")) || mnemonic == "mulps" || mnemonic == "vmulps" ||
         mnemonic == "fmla" || mnemonic == "vpdpbusd" || mnemonic == "vpmaddwd" || mnemonic.starts_with("vfmacc") ||
         mnemonic == "vfmadd.vv" || mnemonic == "vfmadd.vf";
}

static bool readsConstants(const isa::Loop &loop) {
  return llvm::any_of(loop, [](const Instruction &instruction) { return usesRegister(instruction, "(%rip)"); });
}

/// The loops over K of the largest tile among the contracts. They read no constant, as the polynomials of epilogues do.
static std::vector<isa::Loop> innerLoopsOf(const std::vector<Function> &functions, const std::string &target) {
  std::vector<isa::Loop> best;
  int64_t most = 1;
  for (const Function &function : functions) {
    if (function.name.find("_contract_") == std::string::npos || !isFor(function.name, target))
      continue;
    for (const isa::Loop &loop : function.loops) {
      int64_t products = llvm::count_if(loop, isProduct);
      if (readsConstants(loop) || products < most)
        continue;
      if (products > most)
        best.clear();
      most = products;
      best.push_back(loop);
    }
  }
  return best;
}

static std::string textOf(const isa::Loop &loop) {
  std::string text;
  for (const Instruction &instruction : loop)
    text += "  " + instruction.mnemonic + " " + instruction.operands + "\n";
  return text;
}

static int64_t operandsOnStack(const isa::Loop &loop) {
  return llvm::count_if(loop, [](const Instruction &i) { return usesRegister(i, "(%rsp)"); });
}

class instructions_of_several : public testing::Test {
protected:
  // Compiled for all, whatever this machine runs.
  static void SetUpTestSuite() {
    TemporaryFolder folder;
    CompileOptions options;
    options.target = family;
    options.outputFolder = folder.path();
    functions = isa::disassemble(compile(Several::get().graph, options).objectPath);
  }
  static std::vector<Function> functions;

  /// Every packed product of the loops is of these, in registers of this kind, and so many operands at most are on the
  /// stack.
  static void expectLoops(const std::string &target, const char *registers, const char *mnemonic, int64_t products,
                          int64_t mostOnStack) {
    std::vector<isa::Loop> loops = innerLoopsOf(functions, target);
    ASSERT_FALSE(loops.empty()) << target;
    for (const isa::Loop &loop : loops) {
      EXPECT_EQ(llvm::count_if(loop, isProduct), products) << target << "\n" << textOf(loop);
      for (const Instruction &instruction : loop)
        EXPECT_TRUE(!isProduct(instruction) || (llvm::StringRef(instruction.mnemonic).starts_with(mnemonic) &&
                                                usesRegister(instruction, registers)))
            << target << ": " << instruction.mnemonic << " " << instruction.operands;
      EXPECT_LE(operandsOnStack(loop), mostOnStack) << target << "\n" << textOf(loop);
    }
  }
};
std::vector<Function> instructions_of_several::functions;

// Products in a pass over K, derived in schedules/x86.cpp: row tile times vectors of a panel.
TEST_F(instructions_of_several, contracts_of_avx512_are_fused_in_zmm_and_spill_nothing) {
  expectLoops("x86_64_avx512", "%zmm", "vfmadd", 24, 0);
}

TEST_F(instructions_of_several, contracts_of_avx2_are_fused_in_ymm_and_spill_nothing) {
  expectLoops("x86_64_avx2", "%ymm", "vfmadd", 12, 0);
}

// The tile takes all registers. Where an epilogue keeps constants beside it, two of the sums go through memory: 3.8
// instructions for a product, against 4.1 with the next smaller tile, which spills none.
TEST_F(instructions_of_several, contracts_of_sse41_multiply_in_xmm_and_spill_two_sums_at_most) {
  expectLoops("x86_64_sse41", "%xmm", "mulps", 12, 4);
}

// What runs before the choice, and what is chosen last, has no instruction of AVX: all of those begin with v.
TEST_F(instructions_of_several, entry_points_and_sse41_need_no_avx) {
  int sse41 = 0, entryPoints = 0;
  for (const Function &function : functions) {
    llvm::StringRef name = function.name;
    if (name.contains("x86_64_avx"))
      continue;
    (name.contains("x86_64_sse41") ? sse41 : entryPoints) += 1;
    for (const Instruction &instruction : function.instructions) {
      EXPECT_NE(instruction.mnemonic[0], 'v') << function.name << ": " << instruction.mnemonic;
      EXPECT_FALSE(usesRegister(instruction, "%ymm") || usesRegister(instruction, "%zmm")) << function.name;
    }
  }
  EXPECT_GT(sse41, 5);
  EXPECT_GT(entryPoints, 10);
}

TEST_F(instructions_of_several, avx2_needs_no_avx512) {
  for (const Function &function : functions) {
    if (!llvm::StringRef(function.name).contains("x86_64_avx2"))
      continue;
    for (const Instruction &instruction : function.instructions)
      EXPECT_FALSE(usesRegister(instruction, "%zmm") || usesRegister(instruction, "%k") ||
                   usesRegister(instruction, "mm16"))
          << function.name << ": " << instruction.mnemonic << " " << instruction.operands;
  }
}

/// Products of int8 in a pass over K, and what else the object of a target has none of. Where all inputs are one group,
/// LLVM keeps what a column is multiplied with in registers throughout, and some of the sums go through memory: it is
/// the best of the loops, over several groups, that must keep theirs.
static void expectIntegerLoops(const std::string &target, const char *registers, const char *mnemonic, int64_t products,
                               int64_t mostOnStack, std::initializer_list<const char *> without) {
  TemporaryFolder folder;
  CompileOptions options;
  options.target = target;
  options.outputFolder = folder.path();
  DeclaredGraph graph(encoder(), Precision::Int8);
  std::vector<Function> functions = isa::disassemble(compile(graph, options).objectPath);
  std::vector<isa::Loop> loops = innerLoopsOf(functions, identifierOf({target, 0}));
  ASSERT_FALSE(loops.empty()) << target;
  for (const isa::Loop &loop : loops) {
    EXPECT_EQ(llvm::count_if(loop, isProduct), products) << target << "\n" << textOf(loop);
    for (const Instruction &instruction : loop)
      EXPECT_TRUE(!isProduct(instruction) || (instruction.mnemonic == mnemonic && usesRegister(instruction, registers)))
          << target << ": " << instruction.mnemonic << " " << instruction.operands;
  }
  const isa::Loop &best =
      *llvm::min_element(loops, [](const auto &a, const auto &b) { return operandsOnStack(a) < operandsOnStack(b); });
  EXPECT_LE(operandsOnStack(best), mostOnStack) << target << "\n" << textOf(best);
  for (const Function &function : functions)
    for (const Instruction &instruction : function.instructions)
      for (const char *none : without)
        EXPECT_NE(instruction.mnemonic, none) << function.name;
}

// Compiled for a processor of AMD, it has nothing that only those have: SSE4A.
TEST(instructions_of_int8, add_up_four_products_in_zmm) {
  expectIntegerLoops("x86-64-avx512-vnni", "%zmm", "vpdpbusd", 24, 0, {"extrq", "insertq", "movntss", "movntsd"});
}

// Pairs of products of 8 bits would saturate: 255 · 127 · 2 is 64770, and stops at 32767.
TEST(instructions_of_int8, add_up_pairs_of_16_bits_where_pairs_of_8_would_saturate) {
  expectIntegerLoops("x86-64-avx2", "%ymm", "vpmaddwd", 12, 2, {"vpmaddubsw"});
}

// On ARM a pass over K is four terms of 6 rows by 3 vectors of a panel (schedules/arm.cpp), each by a lane of the row's
// vector: six loads of rows and twelve of the panel, half of them in pairs.
TEST(instructions_of_neon, contracts_are_fused_by_lane_and_spill_nothing) {
  TemporaryFolder folder;
  CompileOptions options;
  options.target = "arm-64";
  options.outputFolder = folder.path();
  std::vector<isa::Loop> loops =
      innerLoopsOf(isa::disassemble(compile(Several::get().graph, options).objectPath), "arm_64");
  ASSERT_FALSE(loops.empty());
  for (const isa::Loop &loop : loops) {
    EXPECT_EQ(llvm::count_if(loop, isProduct), 72) << textOf(loop);
    EXPECT_LE(loop.size(), 90u) << textOf(loop);
    for (const Instruction &instruction : loop) {
      EXPECT_TRUE(!isProduct(instruction) || usesRegister(instruction, ".s[")) << instruction.operands;
      EXPECT_FALSE(usesRegister(instruction, "[sp")) << textOf(loop);
    }
  }
}

// On RISC-V the generic schedules: a pass over K is a row by a panel of four vectors at most, every product with its
// addition.
TEST(instructions_of_riscv, contracts_are_fused) {
  TemporaryFolder folder;
  CompileOptions options;
  options.target = "riscv-64";
  options.outputFolder = folder.path();
  std::string path = compile(Several::get().graph, options).objectPath;
  std::vector<isa::Loop> loops = innerLoopsOf(isa::disassemble(path), "riscv_64");
  ASSERT_FALSE(loops.empty());
  for (const isa::Loop &loop : loops)
    for (const Instruction &instruction : loop)
      EXPECT_FALSE(llvm::StringRef(instruction.mnemonic).starts_with("vfmul")) << textOf(loop);
  // What Halide asks of LLVM that it does not have would be called by its name (schedules/vector_predication.h).
  auto file = llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)));
  auto object = llvm::cantFail(llvm::object::ObjectFile::createELFObjectFile(file->getMemBufferRef()));
  for (const llvm::object::SymbolRef &symbol : object->symbols()) {
    llvm::StringRef name = llvm::cantFail(symbol.getName());
    EXPECT_FALSE(name.starts_with("llvm.")) << name.str();
  }
}

// ---- What is asked of memory ahead of time

static int64_t countOf(const std::vector<Function> &functions, llvm::StringRef prefix) {
  int64_t count = 0;
  for (const Function &function : functions)
    count += llvm::count_if(function.instructions, [&](const Instruction &instruction) {
      return llvm::StringRef(instruction.mnemonic).starts_with(prefix);
    });
  return count;
}

/// The functions of y = x W for a W of that many inputs and outputs.
static std::vector<Function> denseOf(int64_t width, const std::string &target) {
  Graph g("dense");
  g.output("y", dense(g.input("x", {g.time("time", {.max = 512}), width}), {.outputs = width}));
  TemporaryFolder folder;
  CompileOptions options;
  options.target = target;
  options.outputFolder = folder.path();
  return isa::disassemble(compile(DeclaredGraph(std::move(g)), options).objectPath);
}

TEST(panels, of_large_weights_are_asked_for_into_all_caches) {
  for (const std::string &target : familyNames()) {
    std::vector<Function> functions = denseOf(256, target);
    EXPECT_GE(countOf(functions, "prefetcht0"), 1) << target;
    EXPECT_EQ(countOf(functions, "prefetch"), countOf(functions, "prefetcht0")) << target;
  }
}

TEST(panels, that_stay_in_a_cache_are_not_asked_for) {
  for (const std::string &target : familyNames())
    EXPECT_EQ(countOf(denseOf(64, target), "prefetch"), 0) << target;
  EXPECT_EQ(countOf(denseOf(256, "arm-64"), "prf"), 0);
}
