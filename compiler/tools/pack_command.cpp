// burin pack: weights to a packed file that the runtime maps, and a look at whether such a file is whole.
//
// Packing needs the plan's tables and no kernel, so nothing is compiled and any target's file is written anywhere.
#include "emit/compile.h"
#include "emit/plan_tables.h"
#include "nlohmann/json.hpp"
#include "tools/commands.h"
#include "tools/failure.h"

namespace burin {

namespace {

struct PackOptions {
  std::string weights, output, verify, target;
  TuningSource tuning;
  std::optional<Precision> precision; // else the graph's own
  bool targetGiven = false, allowExtraTensors = false, json = false;
};

/// Progress of the runtime's functions as the tool shows it.
struct RuntimeProgress : burin_rt_progress {
  RuntimeProgress() {
    context = &shown;
    report = [](void *context, const char *what, int64_t done, int64_t total) {
      constexpr int64_t megabyte = 1000000;
      static_cast<Progress *>(context)->update((llvm::Twine(what) + ", in MB").str(), done / megabyte,
                                               total / megabyte);
    };
  }
  Progress shown{"reading the weights"};
};

} // namespace

/// The graph's plan for the target of that name.
static llvm::Expected<std::unique_ptr<PlanTables>> planOf(const GraphSource &source, llvm::StringRef targetName,
                                                          const PackOptions &given) {
  llvm::Expected<LoadedGraph> graph = source.load();
  if (!graph)
    return graph.takeError();
  applyPrecision(graph->module(), given.precision);
  llvm::Expected<const Target *> target = targetNamed(targetName, narrowestPrecision(graph->module()));
  if (!target)
    return target.takeError();
  llvm::Expected<TunedSchedules> tuned = TunedSchedules::load(given.tuning, given.target, printWarning);
  if (!tuned)
    return tuned.takeError();
  if (llvm::Error error = runPasses(graph->module(), **target, *tuned))
    return error;
  return std::make_unique<PlanTables>(makePlan(graph->module(), **target));
}

/// What the runtime says about a file; where it could not be read or written, the message names it.
static llvm::Error failureOf(llvm::StringRef path, const char *message, burin_status status) {
  if (status == BURIN_FILE_UNREADABLE)
    return failure(message);
  return failure(path + ": " + (*message ? message : burin_status_text(status)));
}

static llvm::Expected<int> pack(const GraphSource &source, const PackOptions &given) {
  auto plan = planOf(source, given.target, given);
  if (!plan)
    return plan.takeError();
  char message[512] = "";
  burin_open_options options = {};
  options.weights_path = given.weights.c_str();
  options.verify_content = 1; // packing a packed file again must not make damage look whole
  options.allow_extra_tensors = given.allowExtraTensors;
  options.message = message;
  options.message_bytes = sizeof message;
  RuntimeProgress progress;
  burin_status status = burin_rt_pack((*plan)->table(), &options, given.output.c_str(), &progress);
  progress.shown.clear();
  if (status != BURIN_OK)
    return failureOf(given.weights, message, status);
  if (given.json) {
    nlohmann::ordered_json line = {{"file", given.output},
                                   {"model", (*plan)->table()->name},
                                   {"target", (*plan)->table()->target},
                                   {"weights_bytes", (*plan)->table()->weights_bytes}};
    llvm::outs() << line.dump() << "\n";
    return 0;
  }
  llvm::outs() << given.output << ": " << (*plan)->table()->weights_bytes << " bytes of weights of '"
               << (*plan)->table()->name << "' for " << (*plan)->table()->target << "\n";
  return 0;
}

/// Whether a plan takes the file; what does not depend on a plan was found right.
static llvm::Error compareWithGraph(const GraphSource &source, const PackOptions &given, llvm::StringRef packedFor) {
  if (!given.targetGiven)
    if (llvm::Expected<const Target *> target = targetNamed(packedFor); !target)
      return failure(given.verify + ": " + llvm::toString(target.takeError()));
  auto plan = planOf(source, given.targetGiven ? given.target : packedFor, given);
  if (!plan)
    return plan.takeError();
  char message[512] = "";
  burin_open_options options = {};
  options.weights_path = given.verify.c_str();
  options.message = message;
  options.message_bytes = sizeof message;
  burin_model *model = nullptr;
  burin_status status = burin_rt_open((*plan)->table(), &options, &model);
  burin_rt_close(model);
  return status == BURIN_OK ? llvm::Error::success() : failureOf(given.verify, message, status);
}

static llvm::Expected<int> verify(const GraphSource &source, const PackOptions &given) {
  char message[512] = "";
  burin_rt_packed_description found;
  RuntimeProgress progress;
  burin_status status = burin_rt_check_packed(given.verify.c_str(), &progress, &found, message, sizeof message);
  progress.shown.clear();
  if (status != BURIN_OK)
    return failureOf(given.verify, message, status);
  if (source.isGiven())
    if (llvm::Error error = compareWithGraph(source, given, found.target))
      return error;
  if (given.json) {
    nlohmann::ordered_json line = {{"file", given.verify},
                                   {"whole", true},
                                   {"model", found.model},
                                   {"target", found.target},
                                   {"weights_bytes", found.weights_bytes},
                                   {"compared_with_graph", source.isGiven()}};
    llvm::outs() << line.dump() << "\n";
    return 0;
  }
  llvm::outs() << given.verify << ": whole, " << found.weights_bytes << " bytes of weights of '" << found.model
               << "' for " << found.target << (source.isGiven() ? ", which the graph takes" : "") << "\n";
  return 0;
}

void addPackCommand(Tool &tool) {
  CLI::App *command = addCommand(
      tool, "pack", "weights to a packed file, which a program maps instead of packing when it opens",
      tool.graph.exampleArgument() + "--weights weights.safetensors -o policy.packed --target x86-64-avx2\n  " +
          tool.app.get_name() + " pack --verify policy.packed");
  auto options = std::make_shared<PackOptions>();
  tool.graph.addArgument(*command, /*required=*/false);
  CLI::Option *weights =
      command->add_option("--weights", options->weights, "safetensors file with the graph's parameters");
  CLI::Option *output = command->add_option("-o,--output", options->output, "packed file to write");
  command
      ->add_option("--verify", options->verify,
                   "packed file to check: its header and content, and that the graph takes it where one is given")
      ->excludes(weights)
      ->excludes(output);
  command->add_flag("--allow-extra-tensors", options->allowExtraTensors, "ignore tensors that the graph does not name");
  addTargetOption(*command, options->target);
  command->add_flag("--json", options->json, "one JSON object");
  addTuningOptions(*command, options->tuning);
  addPrecisionOption(*command, options->precision);
  command->callback([&tool, command, weights, output, options] {
    options->targetGiven = command->count("--target") > 0;
    if (!options->verify.empty()) {
      tool.action = [&tool, options] { return verify(tool.graph, *options); };
      return;
    }
    if (!tool.graph.isGiven())
      throw CLI::RequiredError("GRAPH");
    for (const CLI::Option *option : {weights, output})
      if (option->empty())
        throw CLI::RequiredError(option->get_name());
    tool.action = [&tool, options] { return pack(tool.graph, *options); };
  });
}

} // namespace burin
