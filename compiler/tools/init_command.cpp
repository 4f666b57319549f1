// burin init: weights for a graph from a seed.
#include "nlohmann/json.hpp"
#include "tools/commands.h"
#include "tools/initial_values.h"

namespace burin {

namespace {
struct InitOptions {
  std::string output;
  uint64_t seed = 0;
  bool json = false;
};
} // namespace

static llvm::Expected<int> init(const GraphSource &source, const InitOptions &options) {
  llvm::Expected<LoadedGraph> graph = source.load();
  if (!graph)
    return graph.takeError();
  GraphSignature signature = signatureOf(graph->module());
  Progress progress("making weights");
  llvm::Expected<SafetensorsWriter> weights = initialWeights(signature, options.seed, progress);
  if (!weights)
    return weights.takeError();
  if (llvm::Error error = weights->write(options.output))
    return error;
  progress.clear();
  int64_t values = 0;
  for (const GraphParameter &parameter : signature.parameters) {
    int64_t count = 1;
    for (int64_t extent : parameter.shape)
      count *= extent;
    values += count;
  }
  if (options.json) {
    nlohmann::ordered_json line = {{"file", options.output},
                                   {"parameters", signature.parameters.size()},
                                   {"values", values},
                                   {"seed", options.seed}};
    llvm::outs() << line.dump() << "\n";
    return 0;
  }
  llvm::outs() << options.output << ": " << signature.parameters.size() << " parameters, " << values << " values, seed "
               << options.seed << "\n";
  return 0;
}

void addInitCommand(Tool &tool) {
  CLI::App *command =
      addCommand(tool, "init", "weights for a graph from a seed: matrices N(0, 1/fan_in), biases 0, norms 1 and 0",
                 tool.graph.exampleArgument() + "-o weights.safetensors --seed 42");
  auto options = std::make_shared<InitOptions>();
  tool.graph.addArgument(*command);
  command->add_option("-o,--output", options->output, "safetensors file to write")->required();
  command->add_option("--seed", options->seed, "the same seed gives the same weights everywhere")->default_val(0);
  command->add_flag("--json", options->json, "one JSON object");
  command->callback([&tool, options] { tool.action = [&tool, options] { return init(tool.graph, *options); }; });
}

} // namespace burin
