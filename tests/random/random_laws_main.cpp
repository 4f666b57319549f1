// The laws on random graphs: the same tests as in laws_tests, on another table of graphs.
//
//     random_laws --seeds FIRST-LAST [--target NAME]  a graph for each seed, on one of the targets that run here
//     random_laws --recipe TEXT --target NAME         this one, as a failure prints it
//     … --print                                       says what the graphs are, as recipe and as textual IR, and tests
//     nothing
//
// and whatever GoogleTest takes. random_graphs.py runs many of these and makes what fails smaller.
#include "emit/kernel_worker.h"
#include "machine/loaded_model.h"
#include "recipe.h"
#include "tested_targets.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace burin;
using namespace burin::laws;

namespace {

std::vector<LawGraph> graphs;

/// Of the targets that run in this process, in turn, but for those where compiling takes long or gives no other
/// kernels. Graphs of equal sizes have the same, so that they share kernels.
std::string targetOf(uint64_t seed) {
  std::vector<std::string> names;
  for (const Target &target : allTargets())
    if (isInThisProcess(target) && isFullyTested(target) && hasKernelsOfItsOwn(target, Precision::Float32))
      names.push_back(target.name.str());
  return names[seed / seedsOfEqualSizes % names.size()];
}

void addGraph(const Recipe &recipe, const std::string &name, const std::string &target, bool print) {
  graphs.push_back(graphOf(recipe, name));
  graphs.back().onlyOn = target;
  if (!print)
    return;
  llvm::outs() << "// --recipe '" << textOf(recipe) << "' --target " << target << "\n";
  DeclaredGraph(graphs.back().build()).module()->print(llvm::outs());
}

/// 2: the command line, or a recipe, is not valid.
int readCommandLine(int argc, char **argv) {
  std::string seeds, recipe, target;
  bool print = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    std::string *value = word == "--seeds"    ? &seeds
                         : word == "--recipe" ? &recipe
                         : word == "--target" ? &target
                                              : nullptr;
    if (word == "--print") {
      print = true;
    } else if (value && i + 1 < argc) {
      *value = argv[++i];
    } else {
      llvm::errs() << "random_laws: '" << word << "', expected --seeds FIRST-LAST or --recipe TEXT, --target NAME\n";
      return 2;
    }
  }
  try {
    if ((!target.empty() || !recipe.empty()) && !findTarget(target))
      throw std::runtime_error("no target is named '" + target + "'");
    if (!recipe.empty()) {
      addGraph(recipeOf(recipe), "random", target, print);
    } else {
      auto [first, last] = llvm::StringRef(seeds).split('-');
      uint64_t begin, end;
      if (first.getAsInteger(10, begin) || last.getAsInteger(10, end))
        throw std::runtime_error("--seeds '" + seeds + "', expected FIRST-LAST");
      for (uint64_t seed = begin; seed <= end; ++seed)
        addGraph(randomRecipe(seed), "seed_" + std::to_string(seed), target.empty() ? targetOf(seed) : target, print);
    }
  } catch (const std::exception &error) {
    llvm::errs() << "random_laws: " << error.what() << "\n";
    return 2;
  }
  return print ? -1 : 0;
}

} // namespace

llvm::ArrayRef<LawGraph> burin::laws::lawGraphs() { return graphs; }

int main(int argc, char **argv) {
  if (isKernelWorker(argc, argv))
    return runKernelWorker(argc, argv);
  setenv("BURIN_KERNEL_CACHE", BURIN_TEST_KERNEL_CACHE, /*overwrite=*/0);
  // The table first: GoogleTest makes a test of each of its rows. It takes its own flags out of the line.
  std::vector<char *> ours{argv[0]}, its{argv[0]};
  for (int i = 1; i < argc; ++i)
    (llvm::StringRef(argv[i]).starts_with("--gtest") ? its : ours).push_back(argv[i]);
  if (int status = readCommandLine(int(ours.size()), ours.data()))
    return status < 0 ? 0 : status;
  int count = int(its.size());
  its.push_back(nullptr);
  testing::InitGoogleTest(&count, its.data());
  // Tests of graphs by name, of the other table, are not meant.
  if (testing::GTEST_FLAG(filter) == "*")
    testing::GTEST_FLAG(filter) = "*/seed_*:*/random_*";
  const int status = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->successful_test_count() == 0 && status == 0) {
    llvm::errs() << "random_laws: no law was tested\n";
    return 1;
  }
  return status;
}
