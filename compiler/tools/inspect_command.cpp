// burin inspect: what the passes made of a graph, as text, JSON or a page. Its kernels are compiled only to be timed.
#include "emit/compile.h"
#include "tools/commands.h"
#include "tools/failure.h"
#include "tools/graph_bench.h"
#include "tools/initial_values.h"
#include "tools/inspection.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

namespace {
struct InspectOptions {
  std::string target, html;
  TuningSource tuning;
  std::optional<Precision> precision; // else the graph's own
  bool json = false, measure = false;
  unsigned jobs = 0;
};
} // namespace

/// Runs the passes and compiles what they left, to time it on weights from a seed: how long a kernel takes is not a
/// matter of their values.
static llvm::Expected<std::vector<EntryTimes>> measure(mlir::ModuleOp module, const Target &target,
                                                       const InspectOptions &options) {
  Progress progress("compiling");
  llvm::Expected<SafetensorsWriter> weights = initialWeights(signatureOf(module), 0, progress);
  if (!weights)
    return weights.takeError();
  auto model = CompiledModel::compile(module, options.target, options.jobs, progress, options.tuning);
  if (!model)
    return model.takeError();
  if (llvm::Error error = (*model)->openBytes(weights->bytes()))
    return error;
  std::vector<EntryTimes> entries;
  if (llvm::Error error = timeGraph(**model, module, mostRows((*model)->plan()), target, progress,
                                    [&](const EntryTimes &times) { entries.push_back(times); }))
    return error;
  return entries;
}

static llvm::Error write(const std::string &text, const std::string &file) {
  std::error_code error;
  llvm::raw_fd_ostream stream(file, error);
  if (!error) {
    stream << text;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  return error ? failure(file + ": " + error.message()) : llvm::Error::success();
}

static llvm::Expected<int> inspect(const GraphSource &source, const InspectOptions &options) {
  llvm::Expected<LoadedGraph> graph = source.load();
  if (!graph)
    return graph.takeError();
  mlir::ModuleOp module = graph->module();
  applyPrecision(module, options.precision);
  Precision narrowest = narrowestPrecision(module);
  llvm::Expected<const Target *> target =
      options.measure ? targetThatRuns(options.target, narrowest) : targetNamed(options.target, narrowest);
  if (!target)
    return target.takeError();
  nlohmann::ordered_json report;
  describeGraph(module, report); // before the passes take it apart
  llvm::Expected<TunedSchedules> tuned =
      TunedSchedules::load(options.tuning, options.target, options.measure ? [](llvm::StringRef) {} : printWarning);
  if (!tuned)
    return tuned.takeError();
  std::vector<EntryTimes> times;
  if (options.measure) {
    llvm::Expected<std::vector<EntryTimes>> measured = measure(module, **target, options);
    if (!measured)
      return measured.takeError();
    times = std::move(*measured);
  } else if (llvm::Error error = runPasses(module, **target, *tuned)) {
    return error;
  }
  describePlan(module, makePlan(module, **target), *tuned, report);
  if (!times.empty())
    describeTimes(times, report);
  if (!options.html.empty()) {
    if (llvm::Error error = write(inspectionHtml(report), options.html))
      return error;
    return 0;
  }
  // A name may hold bytes that are no text.
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  llvm::outs() << (options.json ? report.dump(2, ' ', false, replace) + "\n" : inspectionText(report));
  return 0;
}

void addInspectCommand(Tool &tool) {
  CLI::App *command = addCommand(tool, "inspect", "graph, kernels, memory and work of a graph, without compiling it",
                                 tool.graph.exampleArgument() + "--target x86-64-avx2\n  " + tool.app.get_name() +
                                     " inspect " + tool.graph.exampleArgument() + "--html policy.html --measure");
  auto options = std::make_shared<InspectOptions>();
  tool.graph.addArgument(*command);
  addTargetOption(*command, options->target);
  addTuningOptions(*command, options->tuning);
  addPrecisionOption(*command, options->precision);
  CLI::Option *json = command->add_flag("--json", options->json, "one JSON object");
  command->add_option("--html", options->html, "write a page to this file: graph, kernels, memory and work drawn")
      ->excludes(json);
  CLI::Option *measure =
      command->add_flag("--measure", options->measure, "also compile, and time forward at full length and streams");
  addJobsOption(*command, options->jobs);
  command->get_option("-j")->needs(measure);
  command->callback([&tool, options] { tool.action = [&tool, options] { return inspect(tool.graph, *options); }; });
}

} // namespace burin
