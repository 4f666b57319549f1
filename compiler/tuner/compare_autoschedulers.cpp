// Baselines: the same algorithms, scheduled by Halide's own autoschedulers, on the same input in the same run.
#include "emit/autoschedule.h"
#include "emit/compile.h"
#include "tools/failure.h"
#include "tuner/tune_graph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

namespace burin {

static constexpr int rounds = 9;
static constexpr double secondsEach = 200e-6;

/// The first line of an error, which may be a page long.
static std::string briefly(llvm::StringRef error) { return error.trim().split('\n').first.take_front(160).str(); }

/// The default and each autoscheduler's, compiled; on a GPU, trials have no way to run them.
static SchedulerComparison compileKernel(TrialBench &bench, const TrialKernel &kernel) {
  SchedulerComparison comparison{recordName(kernel.text), "", kernel.mostRows, {}};
  auto add = [&](const char *scheduler, const Candidate &candidate) {
    comparison.entries.push_back({scheduler, briefly(candidate.refused), 0, true, candidate.objectBytes});
  };
  add("default", bench.compile(kernel, ScheduleParameters(), nullptr).front());
  for (const char *name : gpuAutoschedulers())
    add(name, bench.compileAutoscheduled(kernel, name, comparison.rows));
  return comparison;
}

static SchedulerComparison compareKernel(TrialBench &bench, const TrialKernel &kernel, const TuneOptions &options,
                                         const TuningDatabase &database) {
  int bucket = bucketsOf(kernel).back();
  SchedulerComparison comparison{recordName(kernel.text), "", sizesOf(kernel, bucket).back(), {}};
  std::vector<Candidate> candidates = bench.compile(kernel, ScheduleParameters(), nullptr);
  comparison.entries.push_back({"default", "", 0, true, 0});
  auto found = database.find({comparison.kernel, options.target, bucket});
  if (found.record && !found.record->parameters.empty()) {
    candidates.push_back(std::move(bench.compile(kernel, found.record->parameters, nullptr).front()));
    comparison.entries.push_back({"tuned", "", 0, true, 0});
  }
  for (const char *name : cpuAutoschedulers()) {
    candidates.push_back(bench.compileAutoscheduled(kernel, name, comparison.rows));
    comparison.entries.push_back({name, "", 0, true, 0});
  }
  // Each beside the default in a program of its own, since one that fails ends the program.
  for (auto [entry, candidate] : llvm::zip_equal(comparison.entries, candidates)) {
    if (!candidate.refused.empty()) {
      entry.problem = briefly(candidate.refused);
      continue;
    }
    std::vector<const Candidate *> both{&candidates[0]};
    if (&candidate != &candidates[0])
      both.push_back(&candidate);
    auto result = bench.run(kernel, both, TrialSize{comparison.rows, true}, rounds, secondsEach);
    if (!result) {
      entry.problem = briefly(llvm::toString(result.takeError()));
      continue;
    }
    entry.sameBits = result->refused.back().empty();
    // As a part of the default's time in the same run, at the pace of the first.
    double pace = comparison.entries[0].seconds > 0 ? comparison.entries[0].seconds / result->seconds[0][0] : 1;
    entry.seconds = result->seconds.back()[0] * pace;
  }
  return comparison;
}

llvm::Expected<std::vector<SchedulerComparison>> compareAutoschedulers(mlir::ModuleOp module, const TuneOptions &given,
                                                                       Progress &progress) {
  llvm::Expected<const Target *> target = targetNamed(given.target);
  if (!target)
    return target.takeError();
  TuneOptions options = given;
  options.target = (*target)->name.str();
  TuningSource source{given.cpu, llvm::sys::fs::exists(given.database) ? given.database : ""};
  auto tuned = TunedSchedules::load(source, options.target, [](llvm::StringRef) {});
  if (!tuned)
    return tuned.takeError();
  if (llvm::Error error = runPasses(module, **target))
    return error;
  ModelPlan plan = makePlan(module, **target);
  bool runs = (*target)->device.empty();
  auto bench = runs ? TrialBench::open(**target, options.trial, tuningInterrupted)
                    : TrialBench::openToCompile(**target, options.trial, tuningInterrupted);
  if (!bench)
    return bench.takeError();
  std::vector<SchedulerComparison> comparisons;
  std::vector<TrialKernel> kernels = trialKernelsOf(module, plan);
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    if (tuningInterrupted || (!options.only.empty() && kernel.text.kernelClass != options.only))
      continue;
    progress.update("comparing autoschedulers", int64_t(number), int64_t(kernels.size()));
    comparisons.push_back(runs ? compareKernel(**bench, kernel, options, tuned->database())
                               : compileKernel(**bench, kernel));
  }
  progress.clear();
  return comparisons;
}

} // namespace burin
