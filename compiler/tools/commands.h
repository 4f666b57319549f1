// What the files of the commands offer to tool_main.cpp: a function each, which describes the command's options. One
// command, one file; a new command is its file, a line here and a line in tool_main.cpp.
#pragma once

#include "dialect/precision.h"
#include "emit/tuned_schedules.h"
#include "schedules/targets.h"
#include "tools/graph_source.h"
#include "tools/progress.h"

namespace burin {

/// What the commands share.
struct Tool {
  CLI::App &app;
  GraphSource &graph;
  /// What main runs when the arguments are read: gives the exit status.
  std::function<llvm::Expected<int>()> action;
};

void addCompileCommand(Tool &tool);
void addCheckCommand(Tool &tool);
void addImportCommand(Tool &tool);
void addInitCommand(Tool &tool);
void addRunCommand(Tool &tool);
void addPackCommand(Tool &tool);
void addInspectCommand(Tool &tool);
void addBenchCommand(Tool &tool);
void addTargetsCommand(Tool &tool);
void addTuneCommand(Tool &tool);
void addQuantizeCommand(Tool &tool);

/// Adds a command whose help ends with an example.
CLI::App *addCommand(Tool &tool, const std::string &name, const std::string &what, const std::string &example);

/// Adds `--target`, with `host` as the default.
void addTargetOption(CLI::App &command, std::string &target);

/// Adds `--cpu` and `--database`, which say where parameters of schedules come from.
void addTuningOptions(CLI::App &command, TuningSource &tuning);

/// Adds `--precision`; unless it is given, contracts are in what the graph says.
void addPrecisionOption(CLI::App &command, std::optional<Precision> &precision);
/// Where one was given, that of all contracts.
void applyPrecision(mlir::ModuleOp graph, std::optional<Precision> precision);

/// Prints a warning to stderr.
void printWarning(llvm::StringRef warning);

/// Adds `-j`, the number of kernels that compile at once.
void addJobsOption(CLI::App &command, unsigned &jobs);

/// The target row of that name, for code that is run on this machine, if need be in an emulator.
llvm::Expected<const Target *> targetThatRuns(llvm::StringRef name, Precision precision = Precision::Float32);
/// Those of several that this machine runs so, at least one; the others are named on stderr.
llvm::Expected<std::vector<const Target *>> targetsThatRun(const Tool &tool, llvm::StringRef list,
                                                           Precision precision = Precision::Float32);

/// The same without an emulator, for code whose time is measured.
llvm::Expected<const Target *> targetToTime(llvm::StringRef name, Precision precision = Precision::Float32);

} // namespace burin
