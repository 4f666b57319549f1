#include "tools/tool_main.h"
#include "emit/compile.h"
#include "emit/compile_kernels.h"
#include "emit/kernel_worker.h"
#include "machine/loaded_model.h"
#include "tools/commands.h"
#include "tools/failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

namespace {
enum ExitStatus { success = 0, error = 1, wrongUsage = 2 };
}

static const char exitStatuses[] = "Exit status: 0, or 1 after an error, or 2 for wrong usage.";

static std::string versions() {
  return "Burin " BURIN_VERSION ", " + kernelCompilerVersion() + ", LLVM " LLVM_VERSION_STRING;
}

CLI::App *addCommand(Tool &tool, const std::string &name, const std::string &what, const std::string &example) {
  CLI::App *command = tool.app.add_subcommand(name, what);
  std::string program = tool.app.get_name();
  command->footer("Example:\n  " + program + " " + name + " " + example + "\n\n" + exitStatuses);
  return command;
}

void addTargetOption(CLI::App &command, std::string &target) {
  command
      .add_option("--target", target,
                  "what to generate code for, as `burin targets` lists; 'host' is the best that this machine runs")
      ->default_val("host");
}

void addTuningOptions(CLI::App &command, TuningSource &tuning) {
  command.add_option(
      "--cpu", tuning.cpu,
      "take the schedules that were tuned on this CPU, such as znver4; unless given, this machine's where "
      "the target is 'host', else none");
  command.add_option("--database", tuning.database,
                     "a file of `burin tune`, whose records come before those that belong to the compiler; 'none' for "
                     "no records at all");
}

void printWarning(llvm::StringRef warning) { llvm::errs() << "warning: " << warning << "\n"; }

void addPrecisionOption(CLI::App &command, std::optional<Precision> &precision) {
  // The rest of what a model computes stays float32 (dialect/precision.h).
  command.add_option_function<std::string>(
      "--precision",
      [&precision](const std::string &given) {
        std::optional<Precision> named = precisionNamed(given);
        if (!named)
          throw CLI::ValidationError("--precision", "'" + given + "' is not known, expected " + listedPrecisions());
        precision = named;
      },
      "what the weights of products are held in, and the products computed in: " + listedPrecisions() +
          "; what the graph says unless given, which is float32 where it says nothing");
}

void applyPrecision(mlir::ModuleOp graph, std::optional<Precision> precision) {
  if (precision)
    setPrecision(graph, *precision);
}

void addJobsOption(CLI::App &command, unsigned &jobs) {
  command.add_option("-j,--jobs", jobs, "kernels that compile at once; 0: one per core")->default_val(0);
}

llvm::Expected<const Target *> targetThatRuns(llvm::StringRef name, Precision precision) {
  llvm::Expected<const Target *> target = targetNamed(name, precision);
  if (!target)
    return target;
  if (std::string why = whyNotRunnable(**target); !why.empty())
    return failure(why);
  return target;
}

llvm::Expected<const Target *> targetToTime(llvm::StringRef name, Precision precision) {
  llvm::Expected<const Target *> target = targetThatRuns(name, precision);
  if (target && !isInThisProcess(**target))
    return failure("target '" + (*target)->name + "' runs on this machine in an emulator (" + (*target)->runner +
                   "), whose times say nothing of a processor");
  return target;
}

llvm::Expected<std::vector<const Target *>> targetsThatRun(const Tool &tool, llvm::StringRef list,
                                                           Precision precision) {
  llvm::Expected<std::vector<const Target *>> targets = targetsNamed(list, precision);
  if (!targets)
    return targets.takeError();
  std::vector<const Target *> running;
  llvm::copy_if(*targets, std::back_inserter(running),
                [](const Target *target) { return whyNotRunnable(*target).empty(); });
  if (running.empty() && targets->size() == 1)
    return failure(whyNotRunnable(*targets->front()));
  if (running.empty())
    return failure("target " + listed(*targets) + " does not run on this machine");
  for (const Target *target : *targets)
    if (!llvm::is_contained(running, target))
      llvm::errs() << tool.app.get_name() << ": skipped: target " << target->name << " does not run on this machine\n";
  return running;
}

/// Runs the command; whatever went wrong is one sentence on stderr, exceptions of libraries included.
static int runAction(Tool &tool) {
  std::string message;
  try {
    llvm::Expected<int> status = tool.action();
    if (status)
      return *status;
    message = llvm::toString(status.takeError());
  } catch (const std::exception &exception) {
    message = exception.what();
  }
  llvm::errs() << tool.app.get_name() << ": error: " << message << "\n";
  return ExitStatus::error;
}

int toolMain(int argc, char **argv, GraphBuilder ownGraph) {
  if (isKernelWorker(argc, argv))
    return runKernelWorker(argc, argv);

  std::string program = llvm::sys::path::filename(argv[0]).str();
  CLI::App app("Burin compiles transformer encoders ahead of time, to objects that a program links.", program);
  GraphSource graph(std::move(ownGraph));
  Tool tool{app, graph, {}};
  addCompileCommand(tool);
  addCheckCommand(tool);
  addImportCommand(tool);
  addInitCommand(tool);
  addRunCommand(tool);
  addPackCommand(tool);
  addInspectCommand(tool);
  addBenchCommand(tool);
  addTargetsCommand(tool);
  addTuneCommand(tool);
  addQuantizeCommand(tool);
  app.require_subcommand(1);
  app.set_version_flag("--version", versions(), "Burin's, Halide's and LLVM's");
  app.footer("Example:\n  " + program + " check tests/golden/mhsa_page.safetensors\n\n" + exitStatuses + "\n'" +
             program + " COMMAND --help' says more about a command.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &parseError) {
    return app.exit(parseError) == 0 ? ExitStatus::success : ExitStatus::wrongUsage;
  }
  return runAction(tool);
}

} // namespace burin
