// burin bench: latencies of a graph, or one kernel against the machine.
#include "tools/commands.h"
#include "tools/graph_bench.h"
#include "tools/kernel_bench.h"

namespace burin {

namespace {
struct BenchOptions {
  KernelBenchOptions kernel;
  std::string target;
  unsigned jobs = 0;
  bool json = false;
};
} // namespace

static llvm::Expected<int> bench(const GraphSource &source, BenchOptions &options) {
  llvm::Expected<const Target *> target = targetThatRuns(options.target);
  if (!target)
    return target.takeError();
  Progress progress;
  if (!options.kernel.kernel.empty()) {
    options.kernel.jobs = options.jobs;
    options.kernel.json = options.json;
    if (llvm::Error error = benchKernel(options.kernel, **target, progress))
      return error;
    return 0;
  }
  llvm::Expected<LoadedGraph> graph = source.load();
  if (!graph)
    return graph.takeError();
  if (llvm::Error error = benchGraph(*graph, {options.jobs, options.json}, **target, progress))
    return error;
  return 0;
}

void addBenchCommand(Tool &tool) {
  CLI::App *command = addCommand(tool, "bench", "latency of a graph's entry points and kernels, or one kernel alone",
                                 tool.graph.exampleArgument() + "--target host\n  " + tool.app.get_name() +
                                     " bench --kernel contract --size 128x384x1536");
  auto options = std::make_shared<BenchOptions>();
  tool.graph.addArgument(*command, /*required=*/false);
  CLI::Option *kernel = command->add_option("--kernel", options->kernel.kernel, "time one kernel alone: contract");
  kernel->needs(command->add_option("--size", options->kernel.size,
                                    "of the kernel: MxKxN, rows times input times output features"));
  addTargetOption(*command, options->target);
  addJobsOption(*command, options->jobs);
  command->add_flag("--json", options->json, "an object per line");
  command->callback([&tool, options] {
    if (!tool.graph.isGiven() && options->kernel.kernel.empty())
      throw CLI::RequiredError("GRAPH or --kernel");
    tool.action = [&tool, options] { return bench(tool.graph, *options); };
  });
}

} // namespace burin
