// First what is chosen for the graph's kernels (tune_choices.h), because that says which kernels there are; then a
// kernel after another (tune_kernel.h), whose records are written as they come; last when calls are split among
// threads, with all that was found. Where nothing is better the record of a kernel says so, so that a neighbour's does
// not apply and a second run has nothing to do.
#include "tuner/tune_graph.h"
#include "emit/compile.h"
#include "emit/tuned_schedules.h"
#include "machine/loaded_model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "schedules/tuner/cpu_name.h"
#include "tools/failure.h"
#include "tools/fma_peak.h"
#include "tools/latency.h"
#include "tuner/acceptance.h"
#include "tuner/tune_choices.h"
#include "tuner/tune_kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <ctime>

using namespace mlir;

namespace burin {

std::atomic<bool> tuningInterrupted = false;

namespace {

using Clock = std::chrono::steady_clock;

constexpr double mostOfBudget = 1.0 / 3; // for alternatives of the graph's kernels

std::string today() {
  char text[16] = "";
  std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

/// The ops of a kernel, for people: "dense, add, layer_norm".
std::string opsOf(func::FuncOp function) {
  std::string text;
  for (Operation &op : function.getBody().front()) {
    auto call = dyn_cast<func::CallOp>(op);
    std::string name = call ? opsOf(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()))
                            : op.getName().stripDialect().str();
    if (!isa<func::ReturnOp>(op) && text.size() < 150)
      text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

/// Whether every bucket of a kernel is in the database.
bool isKnown(const TrialKernel &kernel, const std::string &target, const TuningDatabase &database) {
  return llvm::all_of(bucketsOf(kernel), [&](int bucket) {
    return database.records.count({recordName(kernel.text), target, bucket}) > 0;
  });
}

} // namespace

int TuneReport::measured() const {
  auto isMeasured = [](const auto &result) { return result.problem.empty(); };
  return int(llvm::count_if(results, isMeasured) + llvm::count_if(choices, isMeasured));
}

namespace {

/// The graph's own records, before and after its kernels'.
class GraphRecords {
public:
  GraphRecords(ModuleOp graph, const Target &target, const TuneOptions &options, TuningDatabase &database,
               TuneReport &report, Progress &progress)
      : graph_(graph), options_(options), database_(database), report_(report),
        tuner_(*graph_, target, options, progress),
        isTimedHere_(options.trial.runner.empty() && isInThisProcess(target)) {}

  llvm::Error tuneKernels(Clock::time_point end) {
    std::vector<std::string> records;
    for (llvm::StringRef entry : entriesWithChoices)
      records.push_back(recordName(entry, graphName(*graph_)));
    if (!isWanted("fusion") || isKnown(records, "fusion"))
      return llvm::Error::success();
    auto results = tuner_.tuneKernels(end);
    if (!results)
      return complain("fusion", results.takeError());
    return keep(std::move(*results));
  }

  llvm::Error tuneGrain() {
    if (options_.threads < 2 || !isWanted("parallel") || isKnown({grainRecordName.str()}, "parallel"))
      return llvm::Error::success();
    auto result = tuner_.tuneGrain(database_);
    if (!result)
      return complain("parallel", result.takeError());
    return keep({std::move(*result)});
  }

private:
  bool isWanted(llvm::StringRef what) const {
    return isTimedHere_ && !tuningInterrupted && (options_.only.empty() || options_.only == what);
  }

  RecordKey keyOf(const std::string &record) const { return {record, options_.target, anyRows}; }

  /// Whether the database has one of these; those that it has are reported.
  bool isKnown(const std::vector<std::string> &records, const std::string &of) {
    bool any = false;
    for (const std::string &name : records)
      if (auto found = database_.records.find(keyOf(name)); !options_.again && found != database_.records.end()) {
        const TuningRecord &record = found->second;
        report_.choices.push_back(
            {name, record.about, of, record.choices, record.defaultSeconds, record.seconds, true, "", {}});
        any = true;
      }
    return any;
  }

  llvm::Error complain(const std::string &of, llvm::Error error) {
    std::string problem = llvm::toString(std::move(error));
    if (!tuningInterrupted)
      report_.choices.push_back({of, "", of, {}, 0, 0, false, problem, {}});
    return llvm::Error::success();
  }

  llvm::Error keep(std::vector<ChoiceResult> results) {
    if (results.empty())
      return llvm::Error::success();
    return TuningDatabase::update(options_.database, options_.cpu, [&](TuningDatabase &file) {
      for (ChoiceResult &result : results) {
        file.records[keyOf(result.record)] = database_.records[keyOf(result.record)] = {
            {}, result.seconds, result.defaultSeconds, result.about, today(), result.best};
        report_.choices.push_back(std::move(result));
      }
    });
  }

  OwningOpRef<ModuleOp> graph_; // a copy, which the passes leave alone
  const TuneOptions &options_;
  TuningDatabase &database_;
  TuneReport &report_;
  ChoiceTuner tuner_;
  bool isTimedHere_;
};

} // namespace

llvm::Expected<TuneReport> tuneGraph(ModuleOp module, const TuneOptions &given, Progress &progress) {
  llvm::Expected<const Target *> target = targetNamed(given.target);
  if (!target)
    return target.takeError();
  TuneOptions options = given;
  options.target = (*target)->name.str();
  if (!hasOwnSchedules(**target))
    return failure("target '" + options.target +
                   "' has the schedules that are correct everywhere, which have no parameters");
  TuningDatabase database(options.cpu);
  std::vector<std::string> warnings;
  if (llvm::sys::fs::exists(options.database)) {
    auto read = TuningDatabase::read(options.database, warnings);
    if (!read)
      return read.takeError();
    if (read->cpu != options.cpu)
      return failure(options.database + ": a database of CPU '" + read->cpu + "', expected '" + options.cpu + "'");
    database = std::move(*read);
  }
  for (const std::string &warning : warnings)
    llvm::errs() << "warning: " << warning << "\n";

  TuneReport report;
  report.target = options.target;
  report.cpu = options.cpu;
  report.database = options.database;
  report.before = database;
  auto measureRoofs = [&] { // before and after: other work on the machine hides them at times
    if (options.trial.runner.empty() && isInThisProcess(**target))
      for (int run = 0; run < 5; ++run) {
        report.peakGflops = std::max(report.peakGflops, measureFmaPeak((*target)->lanes));
        report.bytesPerSecond = std::max(report.bytesPerSecond, measureReadBandwidth());
      }
  };
  measureRoofs();
  Clock::time_point start = Clock::now();
  auto allowed = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.budgetSeconds));
  GraphRecords graphRecords(module.clone(), **target, options, database, report, progress);
  if (llvm::Error error =
          graphRecords.tuneKernels(start + std::chrono::duration_cast<Clock::duration>(allowed * mostOfBudget)))
    return error;

  if (llvm::Error error = runPasses(module, **target, TunedSchedules(database)))
    return error;
  ModelPlan plan = makePlan(module, **target);
  std::vector<TrialKernel> kernels = trialKernelsOf(module, plan);
  auto bench = TrialBench::open(**target, options.trial, tuningInterrupted);
  if (!bench)
    return bench.takeError();

  report.model = plan.name;
  std::vector<const TrialKernel *> wanted;
  size_t known = 0;
  for (const TrialKernel &kernel : kernels) {
    if (!options.only.empty() && kernel.text.kernelClass != options.only)
      continue;
    if (!options.again && isKnown(kernel, options.target, database)) {
      ++known;
      for (int bucket : bucketsOf(kernel)) {
        const TuningRecord &record = database.records[{recordName(kernel.text), options.target, bucket}];
        TuneResult result;
        result.kernel = recordName(kernel.text);
        result.about = record.about;
        result.kernelClass = kernel.text.kernelClass;
        result.bucket = bucket;
        result.best = record.parameters;
        result.defaultSeconds = record.defaultSeconds;
        result.seconds = record.seconds;
        result.wasKnown = true;
        report.results.push_back(std::move(result));
      }
      continue;
    }
    wanted.push_back(&kernel);
  }
  if (known)
    llvm::errs() << known << " of " << known + wanted.size() << " kernels are in " << options.database
                 << " already and are skipped; --again searches them again\n";

  for (auto [number, kernel] : llvm::enumerate(wanted)) {
    if (tuningInterrupted || Clock::now() - start >= allowed) {
      report.left = int(wanted.size() - number);
      break;
    }
    // What is left of the budget, in equal parts.
    Clock::time_point now = Clock::now(), end = now + (start + allowed - now) / int(wanted.size() - number);
    std::string about = opsOf(module.lookupSymbol<func::FuncOp>(kernel->text.function));
    auto tell = [&, number = number, kernel = kernel](const std::string &state) {
      double left = std::chrono::duration<double>(start + allowed - Clock::now()).count();
      progress.update(llvm::formatv("tuning {0} ({1}), {2}, {3:F0} s left", kernel->text.function,
                                    kernel->text.kernelClass, state, std::max(left, 0.0))
                          .str(),
                      int64_t(number), int64_t(wanted.size()));
    };
    tell("compiling the default");
    auto results = tuneKernel(**bench, *kernel, options, database, end, tell);
    if (tuningInterrupted) {
      llvm::consumeError(results.takeError());
      report.left = int(wanted.size() - number);
      break;
    }
    if (!results) {
      TuneResult result;
      result.kernel = recordName(kernel->text);
      result.about = about;
      result.kernelClass = kernel->text.kernelClass;
      result.problem = llvm::toString(results.takeError());
      report.results.push_back(std::move(result));
      continue;
    }
    // What other runs wrote meanwhile stays.
    llvm::Error written = TuningDatabase::update(options.database, options.cpu, [&](TuningDatabase &file) {
      for (TuneResult &result : *results) {
        result.about = about;
        RecordKey key{result.kernel, options.target, result.bucket};
        bool isDerived = result.best == result.derived;
        file.records[key] = database.records[key] = {isDerived ? ScheduleParameters() : result.best, result.seconds,
                                                     result.defaultSeconds, about, today()};
        report.results.push_back(std::move(result));
      }
    });
    if (written)
      return written;
  }
  if (llvm::Error error = graphRecords.tuneGrain())
    return error;
  measureRoofs();
  progress.clear();
  return report;
}

} // namespace burin
