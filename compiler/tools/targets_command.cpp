// burin targets: what this build generates for, and what this machine runs.
#include "nlohmann/json.hpp"
#include "schedules/targets.h"
#include "tools/commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

static const char *stateOf(const Target &target) {
  if (&target == hostTarget())
    return "runs here, host";
  return runsHere(target) ? "runs here" : "does not run here";
}

void addTargetsCommand(Tool &tool) {
  CLI::App *command =
      addCommand(tool, "targets", "what this build generates for, and what this machine runs", "--json");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "an object per line");
  command->callback([&tool, json] {
    tool.action = [json]() -> llvm::Expected<int> {
      for (const Target &target : allTargets()) {
        nlohmann::ordered_json line = {{"name", target.name.str()},     {"triple", target.triple.str()},
                                       {"cpu", target.cpu.str()},       {"vector_floats", target.lanes},
                                       {"runs_here", runsHere(target)}, {"host", &target == hostTarget()}};
        if (*json)
          llvm::outs() << line.dump() << "\n";
        else
          llvm::outs() << llvm::formatv("{0,-16} {1,-28} {2,-16} {3,2} floats in a vector, {4}\n", target.name,
                                        target.triple, target.cpu, target.lanes, stateOf(target));
      }
      return 0;
    };
  });
}

} // namespace burin
