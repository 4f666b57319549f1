// burin inspect: what the passes made of a graph, without compiling its kernels.
#include "emit/compile.h"
#include "tools/commands.h"
#include "tools/inspection.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

static llvm::Expected<int> inspect(const GraphSource &source, const std::string &targetName, bool json) {
  llvm::Expected<const Target *> target = targetNamed(targetName);
  if (!target)
    return target.takeError();
  llvm::Expected<LoadedGraph> graph = source.load();
  if (!graph)
    return graph.takeError();
  nlohmann::ordered_json report;
  describeGraph(graph->module(), report); // before the passes take it apart
  if (llvm::Error error = runPasses(graph->module(), **target))
    return error;
  describePlan(graph->module(), makePlan(graph->module(), **target), report);
  llvm::outs() << (json ? report.dump(2) + "\n" : inspectionText(report));
  return 0;
}

void addInspectCommand(Tool &tool) {
  CLI::App *command = addCommand(tool, "inspect", "graph, kernels, memory and work of a graph, without compiling it",
                                 tool.graph.exampleArgument() + "--target x86-64-avx2");
  auto target = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  tool.graph.addArgument(*command);
  addTargetOption(*command, *target);
  command->add_flag("--json", *json, "one JSON object");
  command->callback(
      [&tool, target, json] { tool.action = [&tool, target, json] { return inspect(tool.graph, *target, *json); }; });
}

} // namespace burin
