// What compiling promises of its files: the same bytes every time, a clean symbol table, and a size that depth does not
// change.
#include "dsl/layers.h"
#include "emit/object.h"
#include "law_graphs.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <set>
#include <sys/resource.h>

using namespace burin;
using namespace burin::laws;

static std::string contentsOf(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    throw std::runtime_error(path + ": " + file.getError().message());
  return (*file)->getBuffer().str();
}

/// A kernel of each class, and a step of one kernel.
static Graph smallGraph() {
  Graph g("law");
  Tensor x = g.input("x", {g.time("time", {.max = 9}), 5});
  Tensor y = multi_head_self_attention(x, {.d_model = 5, .heads = 1, .causal = true});
  g.output("rows", layer_norm(add(x, y)));
  g.output("mean", mean_over_time(relu(y)));
  return g;
}

class same_object_bytes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, same_object_bytes, testing::ValuesIn(targetNames()), nameOfTarget);

// In another folder, without the cache, in another order of kernels: what is compiled at once is not what was before.
TEST_P(same_object_bytes, twice) {
  std::string objects[2], headers[2];
  for (int i = 0; i < 2; ++i) {
    TemporaryFolder folder;
    CompileOptions options;
    options.target = GetParam();
    options.outputFolder = folder.path();
    options.useCache = false;
    options.jobs = i == 0 ? 1 : 3;
    CompileResult result = compile(DeclaredGraph(smallGraph()), options);
    for (const KernelReport &kernel : result.kernels)
      EXPECT_FALSE(kernel.cached) << kernel.symbol;
    objects[i] = contentsOf(result.objectPath);
    headers[i] = contentsOf(result.headerPath);
  }
  EXPECT_TRUE(objects[0] == objects[1]) << "the objects differ\nrerun: " << rerunCommand();
  EXPECT_EQ(headers[0], headers[1]) << rerunCommand();
}

/// Only on a GPU do kernels call Halide's runtime, which is in the API's archive.
static bool isNeededOnGpu(llvm::StringRef name, const Target &target) {
  return name.empty() || name.starts_with("burin_rt_") || name.starts_with("halide_") || name == "memcpy" ||
         name == "memset" || name == "memmove" || name == ("burin_gpu_" + target.device).str();
}

class object_hygiene : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, object_hygiene, testing::ValuesIn(targetNames()), nameOfTarget);

TEST_P(object_hygiene, only_entry_points_are_visible_and_only_the_runtime_is_needed) {
  const Target &target = *findTarget(GetParam());
  const bool isOnlySampled = !sharesArchitecture(target) && !hasOwnSchedules(target);
  for (const LawGraph &law : lawGraphs()) {
    if (isOnlySampled && law.name != "causal_encoder")
      continue; // another instruction set makes no other symbols of the generic kernels
    if (!law.sample && !isFullyTested(target))
      continue;
    TemporaryFolder folder;
    CompileOptions options;
    options.target = GetParam();
    options.outputFolder = folder.path();
    CompileResult result = compile(DeclaredGraph(law.build()), options);

    std::set<std::string> defined, expected;
    for (const std::string &name : entryPointsOf(result.plan))
      expected.insert(result.plan.name + "_" + name);
    std::string bytes = contentsOf(result.objectPath);
    auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "law.o"));
    ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
    for (llvm::object::SymbolRef symbol : (*object)->symbols()) {
      std::string name = llvm::cantFail(symbol.getName()).str();
      uint32_t flags = llvm::cantFail(symbol.getFlags());
      if (!(flags & llvm::object::SymbolRef::SF_Undefined) && (flags & llvm::object::SymbolRef::SF_Global))
        defined.insert(name);
      if (target.device.empty()) {
        EXPECT_NE(name.substr(0, 7), "halide_") << law.name << "\nrerun: " << rerunCommand();
      } else if (flags & llvm::object::SymbolRef::SF_Undefined) {
        EXPECT_TRUE(isNeededOnGpu(name, target)) << law.name << " needs " << name << "\nrerun: " << rerunCommand();
      }
    }
    if (llvm::Error error = target.device.empty() ? checkBareObject(result.objectPath) : llvm::Error::success())
      ADD_FAILURE() << law.name << ": " << llvm::toString(std::move(error)) << "\nrerun: " << rerunCommand();
    EXPECT_EQ(defined, expected) << law.name << "\nrerun: " << rerunCommand();
  }
}

/// The kernels of an encoder, as workers are given them. Too wide for a step of one kernel.
static std::vector<std::string> kernelsOfDepth(int64_t depth, const Target &target) {
  Graph g("law");
  Tensor x = g.input("x", {g.time("time", {.max = 64}), 5});
  g.output("y", transformer_encoder(
                    x, {.d_model = 96, .heads = 3, .d_ff = 384, .depth = depth, .outputs = 3, .causal = true}));
  DeclaredGraph graph(std::move(g));
  mlir::OwningOpRef<mlir::ModuleOp> module = graph.module();
  if (llvm::Error error = runPasses(*module, target))
    throw std::runtime_error(llvm::toString(std::move(error)));
  std::vector<std::string> kernels;
  for (const KernelText &kernel : kernelsOf(*module))
    kernels.push_back(kernel.text);
  llvm::sort(kernels);
  return kernels;
}

TEST(compile_time_does_not_grow_with_depth, because_equal_blocks_share_kernels) {
  for (const Target &target : allTargets()) {
    std::vector<std::string> two = kernelsOfDepth(2, target), six = kernelsOfDepth(6, target);
    EXPECT_GT(two.size(), 10u);
    EXPECT_EQ(two, six) << target.name.str() << "\nrerun: " << rerunCommand();
  }
}

// ---- What sizes cost

/// Of the worker processes, which is not what else the machine does at the time.
static double secondsOfWorkers() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) / 1e6;
}

struct Cost {
  double seconds;
  int64_t objectBytes, codeBytes; // the largest kernel's
};

static Cost costOf(Graph graph) {
  TemporaryFolder folder;
  CompileOptions options;
  options.target = hostTarget()->name.str();
  options.outputFolder = folder.path();
  options.useCache = false;
  double before = secondsOfWorkers();
  CompileResult result = compile(DeclaredGraph(std::move(graph)), options);
  Cost cost{secondsOfWorkers() - before, int64_t(contentsOf(result.objectPath).size()), 0};
  for (const KernelReport &kernel : result.kernels)
    cost.codeBytes = std::max(cost.codeBytes, kernel.objectBytes);
  return cost;
}

/// A layer of each class of kernel.
static Graph layersOf(int64_t time, int64_t features) {
  Graph g("law");
  Tensor x = g.input("x", {g.time("time", {.max = time}), features});
  Tensor y = multi_head_self_attention(x, {.d_model = features, .heads = 1, .causal = true});
  g.output("rows", layer_norm(add(x, y)));
  return g;
}

// iree#8734, iree#12035: extents that no tile divides took minutes.
TEST(compile_time, of_odd_sizes_is_about_that_of_even_ones) {
  for (auto [odd, even] : {std::pair(77, 64), std::pair(127, 128)}) {
    Cost expected = costOf(layersOf(even, even)), got = costOf(layersOf(odd, odd));
    EXPECT_LT(got.seconds, 4 * expected.seconds + 1) << odd << " against " << even << "\nrerun: " << rerunCommand();
    EXPECT_LT(got.objectBytes, 3 * expected.objectBytes) << odd << " against " << even << "\nrerun: " << rerunCommand();
  }
}

// iree#16993: nothing is unrolled over an extent of the graph, however large.
TEST(compile_time, of_huge_sizes_is_no_more_than_that_of_large_ones) {
  auto graph = [](int64_t time, int64_t features) {
    Graph g("law");
    Tensor x = g.input("x", {g.time("time", {.max = time}), features});
    Tensor gamma = parameter(g, "gamma", {features}, Init::ones), beta = parameter(g, "beta", {features}, Init::zeros);
    g.output("norm", layer_norm(x, gamma, beta, 1e-5));
    Tensor narrow = dense(x, parameter(g, "W", {features, 8}, Init::normal));
    g.output("attention", attention(narrow, narrow, narrow, {.heads = 1, .causal = true, .window = time}));
    g.output("wide", dense(narrow, parameter(g, "V", {8, features}, Init::normal)));
    return g;
  };
  Cost large = costOf(graph(512, 512)), huge = costOf(graph(1 << 20, 1 << 16));
  EXPECT_LT(huge.codeBytes, 2 * large.codeBytes) << rerunCommand();
  EXPECT_LT(huge.seconds, 4 * large.seconds + 1) << rerunCommand();
}

// Halide#8717: weights are no part of the object.
TEST(object_size, does_not_depend_on_the_size_of_the_weights) {
  auto graph = [](int64_t vocabulary) {
    Graph g("law");
    Tensor ids = g.ids("ids", g.time("time", {.max = 9}));
    g.output("y", relu(embedding(ids, parameter(g, "table", {vocabulary, 64}, Init::normal))));
    return g;
  };
  Cost few = costOf(graph(100)), many = costOf(graph(1000000)); // 256 MB of weights
  EXPECT_LT(std::abs(many.objectBytes - few.objectBytes), 256) << rerunCommand();
  EXPECT_LT(many.seconds, 4 * few.seconds + 1) << rerunCommand();
}
