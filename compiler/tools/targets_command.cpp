// burin targets: what this build generates for, and what this machine runs.
#include "machine/loaded_model.h"
#include "nlohmann/json.hpp"
#include "schedules/target_features.h"
#include "tools/commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

static std::string stateOf(const Target &target) {
  if (&target == hostTarget())
    return "runs it, as host";
  if (runsHere(target))
    return "runs it";
  return whyNotRunnable(target).empty() ? ("runs it under " + target.runner.split(' ').first).str() : "does not run it";
}

static std::string stateOf(const TargetFamily &family) {
  size_t running = llvm::count_if(family.targets, [](const Target *target) { return runsHere(*target); });
  return "runs " + std::to_string(running) + " of " + std::to_string(family.targets.size());
}

static nlohmann::ordered_json describe(const Target &target) {
  return {{"name", target.name.str()},
          {"for", target.about.str()},
          {"triple", target.triple.str()},
          {"cpu", target.cpu.str()},
          {"vector_floats", target.lanes},
          {"runs_here", runsHere(target)},
          {"host", &target == hostTarget()},
          {"runner", target.runner.str()},
          {"emulated_here", !runsHere(target) && whyNotRunnable(target).empty()}};
}

static nlohmann::ordered_json describe(const TargetOption &option) {
  std::vector<std::string> names;
  for (llvm::StringRef value : option.values)
    names.push_back(nameWithOption(option, value));
  return {{"option", option.name.str()}, {"of", option.target.str()}, {"names", names}};
}

static nlohmann::ordered_json describe(const TargetFeature &feature) {
  return {{"feature", feature.name.str()},
          {"of", feature.target.str()},
          {"for", feature.about.str()},
          {"names", {nameWithFeature(feature)}}};
}

static nlohmann::ordered_json describe(const TargetFamily &family) {
  std::vector<std::string> names;
  for (const Target *target : family.targets)
    names.push_back(target->name.str());
  return {{"name", family.name.str()}, {"for", family.about.str()}, {"targets", names}};
}

static void printJson() {
  for (const Target &target : allTargets())
    llvm::outs() << describe(target).dump() << "\n";
  for (const TargetFamily &family : allTargetFamilies())
    llvm::outs() << describe(family).dump() << "\n";
  for (const TargetOption &option : allTargetOptions())
    llvm::outs() << describe(option).dump() << "\n";
  for (const TargetFeature &feature : allTargetFeatures())
    llvm::outs() << describe(feature).dump() << "\n";
}

static void printTable() {
  const char *row = "{0,-16} {1,-38} {2,-10} {3}\n";
  llvm::outs() << llvm::formatv(row, "target", "for", "vector", "this machine");
  for (const Target &target : allTargets())
    llvm::outs() << llvm::formatv(row, target.name, target.about, std::to_string(target.lanes) + " floats",
                                  stateOf(target));
  llvm::outs() << "\nSeveral in one object, which chooses when it is opened (as a list with commas does):\n";
  for (const TargetFamily &family : allTargetFamilies()) {
    std::vector<std::string> names;
    for (const Target *target : family.targets)
      names.push_back(target->name.str());
    llvm::outs() << llvm::formatv(row, family.name, family.about, "", stateOf(family))
                 << llvm::formatv("{0,-16} {1}\n", "", llvm::join(names, ", "));
  }
  llvm::outs() << "\nOptions:\n";
  for (const TargetOption &option : allTargetOptions())
    for (llvm::StringRef value : option.values) {
      std::string name = nameWithOption(option, value);
      bool own = findTarget(name)->name == option.target;
      llvm::outs() << llvm::formatv("{0,-24} {1} with {2} {3}{4}\n", name, option.target, option.name, value,
                                    own ? ", as without the option" : "");
    }
  llvm::outs() << "\nFeatures, which opening a model looks for; several follow one another:\n";
  for (const TargetFeature &feature : allTargetFeatures())
    llvm::outs() << llvm::formatv("{0,-24} {1} with {2}\n", nameWithFeature(feature), feature.target, feature.about);
}

void addTargetsCommand(Tool &tool) {
  CLI::App *command =
      addCommand(tool, "targets", "what this build generates for, and what this machine runs", "--json");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "an object per line");
  command->callback([&tool, json] {
    tool.action = [json]() -> llvm::Expected<int> {
      *json ? printJson() : printTable();
      return 0;
    };
  });
}

} // namespace burin
