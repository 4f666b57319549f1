// burin check: golden cases against their compiled graphs and the reference; the exit status says whether all hold.
#include "machine/loaded_model.h"
#include "tools/check_case.h"
#include "tools/commands.h"

namespace burin {

namespace {
struct CheckOptions {
  std::vector<std::string> cases;
  std::string target, weights;
  std::optional<Precision> precision; // else the graph's own
  unsigned jobs = 0;
  bool json = false, everyTarget = false, noEmulator = false, noGpu = false;
};
} // namespace

/// Every case, whatever became of those before it.
static llvm::Expected<int> check(const CheckOptions &options, const Tool &tool) {
  std::string program = tool.app.get_name();
  ComparisonReport report(llvm::outs(), options.json);
  std::vector<CheckedTarget> checked;
  if (options.everyTarget) {
    for (const Target &target : allTargets()) {
      std::string why = options.noEmulator && !isInThisProcess(target) ? "left out by --no-emulator"
                        : options.noGpu && !target.device.empty()      ? "left out by --no-gpu"
                        : !computesIn(target, options.precision.value_or(Precision::Float32))
                            ? "it does not compute in this precision"
                            : whyNotRunnable(target);
      if (why.empty())
        checked.push_back({target.name.str(), {&target}});
      else
        report.addSkipped(target.name, options.cases.size(), why);
    }
  } else {
    llvm::Expected<std::vector<const Target *>> targets =
        targetsThatRun(tool, options.target, options.precision.value_or(Precision::Float32));
    if (!targets)
      return targets.takeError();
    checked.push_back({options.target, *targets});
  }
  Progress progress("reading cases");
  for (const CheckedTarget &target : checked)
    for (const std::string &path : options.cases) {
      llvm::Error error = checkCase(path, options.weights, target, options.precision, options.jobs, report, progress);
      if (!error)
        continue;
      progress.clear();
      llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &problem) {
        llvm::errs() << program << ": error: " << problem.message() << "\n";
      });
      report.addBrokenCase();
    }
  progress.clear();
  report.finish();
  return report.allOk() ? 0 : 1;
}

void addCheckCommand(Tool &tool) {
  CLI::App *command =
      addCommand(tool, "check", "compare golden cases with their compiled graphs and with the reference",
                 "tests/golden/block_*.safetensors --target x86-64-avx2");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("CASE", options->cases, "golden case files (safetensors with op and args)")->required();
  command->add_option("--weights", options->weights,
                      "safetensors file with the parameters, by their own names, of cases that hold none");
  addTargetOption(*command, options->target);
  addPrecisionOption(*command, options->precision);
  addJobsOption(*command, options->jobs);
  command->add_flag("--every-target", options->everyTarget,
                    "each target that this machine runs or emulates, one after another");
  command->add_flag("--no-emulator", options->noEmulator, "of every target only those that this machine runs itself");
  command->add_flag("--no-gpu", options->noGpu, "of every target only those whose kernels the processor runs");
  command->add_flag("--json", options->json, "an object per line");
  command->callback([&tool, options] { tool.action = [&tool, options] { return check(*options, tool); }; });
}

} // namespace burin
