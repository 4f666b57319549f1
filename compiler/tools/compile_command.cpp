// burin compile: a graph to an object and its header.
#include "emit/compile.h"
#include "nlohmann/json.hpp"
#include "tools/commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

namespace {
struct CompileCommandOptions {
  std::string folder, target;
  std::optional<Precision> precision; // else the graph's own
  Runtime runtime = Runtime::hosted;
  TuningSource tuning;
  bool sharedLibrary = false, statistics = false, json = false;
  unsigned jobs = 0;
};
} // namespace

static void printStatistics(const CompileResult &result) {
  for (const PhaseTime &time : result.times)
    llvm::outs() << llvm::formatv("{0,-20} {1,8:F3} s\n", time.phase, time.seconds);
  for (const KernelReport &kernel : result.kernels)
    llvm::outs() << llvm::formatv(
        "{0,-20} {1,8:F3} s  {2,-10} {3,7} bytes of code, {4,7} of arena, {5,6} of stack{6}\n", kernel.function,
        kernel.seconds, kernel.kernelClass, kernel.objectBytes, kernel.heapBytes, kernel.stackBytes,
        kernel.cached ? ", from the cache" : "");
}

static void printWhatToLink() {
  llvm::outs() << "link with " << archiveNameOf(Runtime::bare) << "; the program provides ";
  llvm::interleaveComma(bareSymbols(), llvm::outs(), [](const BareSymbol &symbol) { llvm::outs() << symbol.name; });
  llvm::outs() << "\n";
}

static void printJson(const CompileResult &result, Runtime runtime) {
  nlohmann::ordered_json line = {
      {"model", result.plan.name}, {"object", result.objectPath}, {"header", result.headerPath}};
  if (!result.sharedLibraryPath.empty())
    line["shared_library"] = result.sharedLibraryPath;
  if (runtime == Runtime::bare) {
    line["link_with"] = archiveNameOf(Runtime::bare).str();
    for (const BareSymbol &symbol : bareSymbols())
      line["program_provides"].push_back(symbol.name.str());
  }
  for (const PhaseTime &time : result.times)
    line["phases"].push_back({{"phase", time.phase}, {"seconds", time.seconds}});
  for (const KernelReport &kernel : result.kernels)
    line["kernels"].push_back({{"kernel", kernel.function},
                               {"class", kernel.kernelClass},
                               {"seconds", kernel.seconds},
                               {"cached", kernel.cached},
                               {"code_bytes", kernel.objectBytes},
                               {"arena_bytes", kernel.heapBytes},
                               {"stack_bytes", kernel.stackBytes}});
  llvm::outs() << line.dump() << "\n";
}

static llvm::Expected<int> compile(const GraphSource &source, const CompileCommandOptions &given) {
  llvm::Expected<LoadedGraph> graph = source.load();
  if (!graph)
    return graph.takeError();
  applyPrecision(graph->module(), given.precision);

  Progress progress("compiling");
  CompileOptions options;
  options.target = given.target;
  options.outputFolder = given.folder;
  options.runtime = given.runtime;
  options.sharedLibrary = given.sharedLibrary;
  options.jobs = given.jobs;
  options.tuning = given.tuning;
  options.warn = [&](llvm::StringRef warning) {
    progress.clear();
    printWarning(warning);
  };
  options.progress = [&](llvm::StringRef what, int done, int total) {
    progress.update(("compiling " + what).str(), done, total);
  };
  llvm::Expected<CompileResult> result = compileModel(graph->module(), options);
  progress.clear();
  if (!result)
    return result.takeError();
  if (given.json) {
    printJson(*result, given.runtime);
    return 0;
  }
  if (given.statistics)
    printStatistics(*result);
  for (const std::string &path : {result->objectPath, result->headerPath, result->sharedLibraryPath})
    if (!path.empty())
      llvm::outs() << path << "\n";
  if (given.runtime == Runtime::bare)
    printWhatToLink();
  return 0;
}

void addCompileCommand(Tool &tool) {
  CLI::App *command = addCommand(tool, "compile", "a graph to an object that a program links, and its header",
                                 tool.graph.exampleArgument() + "-o build/policy --target x86-64-avx2");
  auto options = std::make_shared<CompileCommandOptions>();
  tool.graph.addArgument(*command);
  command->add_option("-o,--output", options->folder, "folder to write to; made where it is missing")->required();
  addTargetOption(*command, options->target);
  addTuningOptions(*command, options->tuning);
  addPrecisionOption(*command, options->precision);
  addJobsOption(*command, options->jobs);
  command
      ->add_option("--runtime", options->runtime,
                   "what the program links: 'hosted', or 'bare' where there is no operating system")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Runtime>{{"hosted", Runtime::hosted}, {"bare", Runtime::bare}}));
  command->add_flag("--shared", options->sharedLibrary, "a shared library too");
  command->add_flag("--stats", options->statistics, "print the time of every pass and kernel");
  command->add_flag("--json", options->json, "one JSON object: the files, and what --stats prints");
  command->callback([&tool, options] { tool.action = [&tool, options] { return compile(tool.graph, *options); }; });
}

} // namespace burin
