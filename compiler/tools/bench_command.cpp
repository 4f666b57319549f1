// burin bench: latencies of a graph, in batches and from a fresh process too, or one kernel against the machine.
#include "tools/batch_bench.h"
#include "tools/bench_description.h"
#include "tools/commands.h"
#include "tools/failure.h"
#include "tools/graph_bench.h"
#include "tools/initial_values.h"
#include "tools/kernel_bench.h"
#include "tools/start_up_bench.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

namespace burin {

namespace {
struct BenchOptions {
  KernelBenchOptions kernel;
  std::string target, weights;
  TuningSource tuning;
  std::optional<Precision> precision; // else the graph's own
  std::vector<int64_t> times;
  int64_t mixed = 0;
  bool startUp = false, json = false;
  unsigned jobs = 0;
  int threads = 1;
};
} // namespace

/// The graph that is meant: where a folder's bench.json names it, with what that file asks for and no option says.
static llvm::Expected<GraphSource> readDescription(const GraphSource &given, BenchOptions &options) {
  llvm::Expected<std::optional<BenchDescription>> description = readBenchDescription(given.path());
  if (!description)
    return description.takeError();
  if (!*description)
    return given;
  if (options.times.empty())
    options.times = (*description)->times;
  if (options.mixed == 0)
    options.mixed = (*description)->mixed;
  options.startUp |= (*description)->startUp;
  return GraphSource((*description)->model);
}

/// Writes weights from a seed to a file that `remover` deletes.
static llvm::Error writeInitialWeights(mlir::ModuleOp module, std::string &file, llvm::FileRemover &remover,
                                       Progress &progress) {
  llvm::Expected<SafetensorsWriter> weights = initialWeights(signatureOf(module), 0, progress);
  if (!weights)
    return weights.takeError();
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("burin", "safetensors", path))
    return failure("a temporary file cannot be made: " + error.message());
  remover.setFile(path);
  file = path.str().str();
  return weights->write(file);
}

static llvm::Error benchModel(const GraphSource &given, BenchOptions &options, Progress &progress) {
  llvm::Expected<GraphSource> source = readDescription(given, options);
  if (!source)
    return source.takeError();
  llvm::Expected<LoadedGraph> graph = source->load();
  if (!graph)
    return graph.takeError();
  applyPrecision(graph->module(), options.precision);
  llvm::Expected<const Target *> target = targetToTime(options.target, narrowestPrecision(graph->module()));
  if (!target)
    return target.takeError();
  std::string weights = options.weights;
  if (weights.empty()) {
    llvm::Expected<std::string> own = source->ownWeights();
    if (!own)
      return own.takeError();
    weights = *own;
  }
  llvm::FileRemover remover;
  if (weights.empty())
    if (llvm::Error error = writeInitialWeights(graph->module(), weights, remover, progress))
      return error;

  auto model = CompiledModel::compile(graph->module(), options.target, options.jobs, progress, options.tuning);
  if (!model)
    return model.takeError();
  if (llvm::Error error = (*model)->openFile(weights, /*allowExtraTensors=*/true, options.threads))
    return error;
  if (llvm::Error error =
          benchGraph(**model, graph->module(), {options.times, options.json, options.threads}, **target, progress))
    return error;
  if (options.mixed > 0)
    if (llvm::Error error = benchMixedBatch(**model, options.mixed, options.json, progress))
      return error;
  if (!options.startUp)
    return llvm::Error::success();
  llvm::Expected<LoadedGraph> again = source->load(); // the passes took the first one apart
  if (!again)
    return again.takeError();
  applyPrecision(again->module(), options.precision);
  return benchStartUp(*again, (*model)->plan(), {(*target)->name.str(), weights, options.jobs, options.json}, progress);
}

static llvm::Error benchOneKernel(BenchOptions &options, Progress &progress) {
  options.kernel.precision = options.precision.value_or(Precision::Float32);
  options.kernel.jobs = options.jobs;
  options.kernel.json = options.json;
  llvm::Expected<const Target *> target = targetToTime(options.target, options.kernel.precision);
  if (!target)
    return target.takeError();
  return benchKernel(options.kernel, **target, progress);
}

static llvm::Expected<int> bench(const GraphSource &source, BenchOptions &options) {
  Progress progress("compiling");
  bool isGraph = options.kernel.kernel.empty();
  if (llvm::Error error = isGraph ? benchModel(source, options, progress) : benchOneKernel(options, progress))
    return error;
  return 0;
}

void addBenchCommand(Tool &tool) {
  const std::string again = "\n  " + tool.app.get_name() + " bench ";
  CLI::App *command =
      addCommand(tool, "bench", "latency of a graph's entry points and kernels, or one kernel alone",
                 tool.graph.exampleArgument() + "--target host" + again + tool.graph.exampleArgument() +
                     "--weights weights.safetensors --times 8,32,128 --mixed 64 --start-up" +
                     (tool.graph.isOwn() ? "" : again + "examples/04_sentence_embeddings --times 32 --mixed 8") +
                     again + "--kernel contract --size 128x384x1536");
  if (!tool.graph.isOwn())
    command->description(command->get_description() +
                         "; GRAPH may be a folder too, whose bench.json names a graph and options");
  const CLI::Validator positive(
      [](const std::string &text) {
        int64_t value = 0;
        bool isPositive = CLI::detail::lexical_cast(text, value) && value > 0;
        return isPositive ? std::string() : "'" + text + "', expected a positive integer";
      },
      "POSITIVE");
  auto options = std::make_shared<BenchOptions>();
  tool.graph.addArgument(*command, /*required=*/false);
  CLI::Option *times = command
                           ->add_option("--times", options->times,
                                        "numbers of rows at which forward is timed; the largest and some below "
                                        "unless given")
                           ->delimiter(',')
                           ->allow_extra_args(false) // what follows a blank is GRAPH
                           ->check(positive);
  CLI::Option *weights = command->add_option(
      "--weights", options->weights,
      "safetensors file with the graph's parameters; those of a model's directory, or from a seed, unless given");
  CLI::Option *mixed =
      command
          ->add_option("--mixed", options->mixed,
                       "also a batch of that many sequences, 2 rows to half of the maximum, and the same one by one")
          ->check(positive);
  CLI::Option *threads = command
                             ->add_option("--threads", options->threads,
                                          "of forward and forward_batch, the caller's included; percentages are of "
                                          "the peak of one")
                             ->check(CLI::Range(1, int(BURIN_MOST_WORKERS)));
  CLI::Option *startUp = command->add_flag("--start-up", options->startUp,
                                           "also time and memory of fresh processes, up to the first result");
  CLI::Option *kernel = command->add_option("--kernel", options->kernel.kernel, "time one kernel alone: contract");
  kernel->needs(command->add_option("--size", options->kernel.size,
                                    "of the kernel: MxKxN, rows times input times output features"));
  for (CLI::Option *ofGraph : {times, weights, mixed, threads, startUp})
    kernel->excludes(ofGraph);
  addTargetOption(*command, options->target);
  addTuningOptions(*command, options->tuning);
  addPrecisionOption(*command, options->precision);
  addJobsOption(*command, options->jobs);
  command->add_flag("--json", options->json, "an object per line");
  command->callback([&tool, options] {
    if (!tool.graph.isGiven() && options->kernel.kernel.empty())
      throw CLI::RequiredError("GRAPH or --kernel");
    tool.action = [&tool, options] { return bench(tool.graph, *options); };
  });
}

} // namespace burin
