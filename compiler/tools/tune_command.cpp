// burin tune: searches the schedules of a graph's kernels on the machine at hand, or through a runner, and keeps what
// was found in a database that `burin compile` reads; merges two of them.
#include "emit/target_list.h"
#include "emit/write_file.h"
#include "nlohmann/json.hpp"
#include "schedules/tuner/cpu_name.h"
#include "tools/commands.h"
#include "tools/failure.h"
#include "tools/latency.h"
#include "tuner/proof.h"
#include "tuner/tune_graph.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <csignal>
#include <limits>

namespace burin {

namespace {
struct TuneCommandOptions {
  TuneOptions tune;
  std::optional<Precision> precision; // else the graph's own
  std::string budget = "120s", start, output, html;
  std::vector<std::string> merge;
  bool json = false, compareAutoschedulers = false;
};

constexpr int endedByUser = 130; // as shells report SIGINT

/// While it lives, SIGINT ends the search instead of the program; a second one ends the program.
class EndOnInterrupt {
public:
  EndOnInterrupt() {
    tuningInterrupted = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { tuningInterrupted = true; };
    action.sa_flags = SA_RESTART | SA_RESETHAND;
    sigaction(SIGINT, &action, &before_);
  }
  ~EndOnInterrupt() { sigaction(SIGINT, &before_, nullptr); }

private:
  struct sigaction before_ = {};
};
} // namespace

static llvm::Expected<double> secondsIn(llvm::StringRef text) {
  llvm::StringRef number = text;
  double unit = number.consume_back("s") ? 1 : number.consume_back("min") ? 60 : 1;
  double value;
  if (number.getAsDouble(value) || !(value > 0) || !std::isfinite(value))
    return failure("--budget '" + text + "', expected a time such as 120s or 5min");
  return value * unit;
}

// ---- What it prints

static std::string changed(const TuneResult &result) {
  std::string text;
  for (auto [parameter, value] : result.best.values())
    if (result.derived.get(parameter) != value)
      text += (text.empty() ? "" : ",") + rowOf(parameter).name.str() + "=" + std::to_string(value);
  return text.empty() ? "the default" : text;
}

static void printTable(const TuneReport &report) {
  llvm::outs() << llvm::formatv("{0} for {1} on {2}", report.model, report.target, report.cpu);
  if (report.peakGflops > 0)
    llvm::outs() << llvm::formatv(", one thread; FMA peak {0:F1} GFLOP/s", report.peakGflops);
  llvm::outs() << llvm::formatv("\n{0,-26} {1,9} {2,11} {3,11} {4,7} {5,9}\n", "kernel", "rows", "default", "tuned",
                                "gain", "% of peak");
  double logs = 0;
  int count = 0;
  for (const TuneResult &result : report.results) {
    if (!result.problem.empty()) {
      llvm::outs() << llvm::formatv("{0,-26} {1}\n", result.kernel, result.problem);
      continue;
    }
    double percent = report.peakGflops > 0 ? 100 * result.flops / result.seconds * 1e-9 / report.peakGflops : 0;
    llvm::outs() << llvm::formatv(
        "{0,-26} {1,9} {2,11} {3,11} {4,6:F2}x {5,9} {6}{7}\n", result.kernel, bucketText(result.bucket),
        duration(result.defaultSeconds), duration(result.seconds), result.defaultSeconds / result.seconds,
        percent > 0 ? llvm::formatv("{0:F1}", percent).str() : "",
        result.wasKnown ? result.best.empty() ? "the default" : result.best.text() : changed(result),
        result.wasKnown ? ", known" : "");
    logs += std::log(result.defaultSeconds / result.seconds);
    ++count;
  }
  for (const ChoiceResult &result : report.choices) {
    if (!result.problem.empty()) {
      llvm::outs() << llvm::formatv("{0,-26} {1}\n", result.record, result.problem);
      continue;
    }
    llvm::outs() << llvm::formatv(
        "{0,-26} {1,9} {2,11} {3,11} {4,6:F2}x {5,9} {6}{7}\n", result.record, bucketText(anyRows),
        duration(result.defaultSeconds), duration(result.seconds), result.defaultSeconds / result.seconds, "",
        result.best.empty() ? "the default" : result.best.text(), result.wasKnown ? ", known" : "");
  }
  if (count)
    llvm::outs() << llvm::formatv("the default reaches {0:F1} % of the tuned speed, geometric mean over {1}\n",
                                  100 * std::exp(-logs / count), count);
}

static void printJson(const TuneReport &report) {
  using Json = nlohmann::ordered_json;
  auto parametersOf = [](const ScheduleParameters &parameters) {
    Json object = Json::object();
    for (auto [parameter, value] : parameters.values())
      object[rowOf(parameter).name.str()] = value;
    return object;
  };
  for (const TuneResult &result : report.results) {
    Json line = {{"kernel", result.kernel},
                 {"about", result.about},
                 {"class", result.kernelClass},
                 {"target", report.target},
                 {"cpu", report.cpu}};
    if (!result.problem.empty()) {
      line["problem"] = result.problem;
    } else {
      line.update({{"rows", bucketText(result.bucket)},
                   {"default_seconds", result.defaultSeconds},
                   {"seconds", result.seconds},
                   {"default", parametersOf(result.derived)},
                   {"parameters", parametersOf(result.best)},
                   {"known", result.wasKnown},
                   {"tried", result.tried.size()},
                   {"refused", llvm::count_if(result.tried, [](auto &point) { return !point.refused.empty(); })}});
      double least = std::numeric_limits<double>::infinity(); // of the points tried, the default left out
      for (const TriedPoint &point : result.tried)
        least = std::min(least, point.cost);
      if (std::isfinite(least))
        line["best_tried_gain"] = 1 / least;
      if (report.peakGflops > 0 && result.flops > 0)
        line["percent_of_fma_peak"] = 100 * result.flops / result.seconds * 1e-9 / report.peakGflops;
    }
    llvm::outs() << line.dump() << "\n";
  }
}

static void printJsonOfChoices(const TuneReport &report) {
  for (const ChoiceResult &result : report.choices) {
    nlohmann::ordered_json line = {{"kernel", result.record},
                                   {"about", result.about},
                                   {"class", result.of},
                                   {"target", report.target},
                                   {"cpu", report.cpu}};
    if (!result.problem.empty()) {
      line["problem"] = result.problem;
    } else {
      nlohmann::ordered_json choices = nlohmann::ordered_json::object();
      for (auto [choice, value] : result.best.values())
        choices[rowOf(choice).name.str()] = value;
      line.update({{"rows", bucketText(anyRows)},
                   {"default_seconds", result.defaultSeconds},
                   {"seconds", result.seconds},
                   {"parameters", choices},
                   {"known", result.wasKnown},
                   {"tried", nlohmann::ordered_json::array()}});
      for (const TriedChoices &tried : result.tried) {
        line["tried"].push_back({{"choices", tried.choices.text()}});
        if (tried.refused.empty())
          line["tried"].back()["gain"] = 1 / tried.cost;
        else
          line["tried"].back()["refused"] = tried.refused;
      }
    }
    llvm::outs() << line.dump() << "\n";
  }
}

static void printComparisons(llvm::ArrayRef<SchedulerComparison> comparisons, bool json) {
  for (const SchedulerComparison &kernel : comparisons) {
    double first = kernel.entries[0].seconds;
    for (const SchedulerComparison::Entry &entry : kernel.entries) {
      if (json) {
        nlohmann::ordered_json line = {
            {"kernel", kernel.kernel}, {"rows", kernel.rows}, {"scheduler", entry.scheduler}};
        if (entry.problem.empty() && entry.bytes)
          line["object_bytes"] = entry.bytes;
        else if (entry.problem.empty())
          line.update({{"seconds", entry.seconds}, {"same_bits", entry.sameBits}});
        else
          line["problem"] = entry.problem;
        llvm::outs() << line.dump() << "\n";
        continue;
      }
      llvm::outs() << llvm::formatv("{0,-26} {1,6} rows  {2,-14} ", kernel.kernel, kernel.rows, entry.scheduler);
      if (entry.problem.empty() && entry.bytes)
        llvm::outs() << "compiled, not run: " << entry.bytes << " bytes of object\n";
      else if (entry.problem.empty())
        llvm::outs() << llvm::formatv("{0,11} {1,7:F2}x{2}\n", duration(entry.seconds), first / entry.seconds,
                                      entry.sameBits ? "" : "  other bits than the default's");
      else
        llvm::outs() << entry.problem << "\n";
    }
  }
}

// ---- What it does

static llvm::Expected<int> merge(const TuneCommandOptions &options) {
  TuningDatabase merged;
  for (const std::string &path : options.merge) {
    std::vector<std::string> warnings;
    auto database = TuningDatabase::read(path, warnings);
    if (!database)
      return database.takeError();
    for (const std::string &warning : warnings)
      printWarning(warning);
    if (llvm::Error error = merged.merge(*database))
      return error;
  }
  if (llvm::Error error = merged.write(options.output))
    return error;
  llvm::outs() << options.output << ": " << merged.records.size() << " records of " << merged.cpu << "\n";
  return 0;
}

static llvm::Expected<int> tune(const GraphSource &source, TuneCommandOptions options) {
  TuneOptions &tune = options.tune;
  auto seconds = secondsIn(options.budget);
  if (!seconds)
    return seconds.takeError();
  tune.budgetSeconds = *seconds;
  std::string wrong;
  auto start = ScheduleParameters::parse(options.start, wrong);
  if (!start)
    return failure("--start: " + wrong);
  tune.start = *start;
  auto target = targetNamed(tune.target);
  bool compilesAlone = target && options.compareAutoschedulers && !(*target)->device.empty();
  if (!target)
    return target.takeError();
  if (tune.cpu.empty() && !tune.trial.runner.empty())
    return failure("--runner without --cpu: the records are of the CPU that runs the programs, expected its name, such "
                   "as cortex-a76");
  if (tune.only == "parallel" && tune.threads < 2)
    return failure("--only parallel without --threads, expected at least 2");
  if ((tune.only == "parallel" || tune.only == "fusion") && !tune.trial.runner.empty())
    return failure("--only " + tune.only + " with --runner: whole graphs are timed in this process alone");
  auto cpu = cpuNamed(tune.cpu.empty() ? "host" : tune.cpu);
  if (!cpu)
    return cpu.takeError();
  tune.cpu = *cpu;
  if (tune.database.empty())
    tune.database = tune.cpu + ".json";
  llvm::Expected<LoadedGraph> graph = source.load();
  if (!graph)
    return graph.takeError();
  applyPrecision(graph->module(), options.precision);
  Precision narrowest = narrowestPrecision(graph->module());
  // Trial programs describe weights as floats; whole graphs are timed as compiled models.
  if (narrowest != Precision::Float32 && tune.only != "fusion" && tune.only != "parallel")
    return failure("kernels with weights in " + precisionName(narrowest) +
                   " are not tuned, expected float32, or --only fusion or parallel");
  target = tune.trial.runner.empty() && !compilesAlone ? targetToTime(tune.target, narrowest)
                                                       : targetNamed(tune.target, narrowest);
  if (!target)
    return target.takeError();
  tune.target = (*target)->name.str();

  Progress progress("tuning");
  EndOnInterrupt endOnInterrupt;
  if (options.compareAutoschedulers) {
    auto comparisons = compareAutoschedulers(graph->module(), tune, progress);
    if (!comparisons)
      return comparisons.takeError();
    printComparisons(*comparisons, options.json);
    return comparisons->empty() ? 1 : 0;
  }
  llvm::Expected<TuneReport> report = tuneGraph(graph->module(), tune, progress);
  if (!report)
    return report.takeError();
  // The last word, before anything is called a success: the whole object, with what is in the file.
  bool hasGains = llvm::any_of(report->results,
                               [](const TuneResult &result) {
                                 return result.problem.empty() && !result.wasKnown && result.best != result.derived;
                               }) ||
                  llvm::any_of(report->choices, [](const ChoiceResult &result) {
                    return result.problem.empty() && !result.wasKnown && !result.best.empty();
                  });
  if (hasGains && tune.trial.runner.empty() && !tuningInterrupted)
    if (llvm::Error error = proveTuned(
            source, {tune.target, tune.database, options.precision, tune.threads, tune.trial.jobs}, progress)) {
      llvm::Error undone = TuningDatabase::update(tune.database, tune.cpu, [&](TuningDatabase &file) {
        auto undo = [&](const RecordKey &key) {
          if (auto before = report->before.records.find(key); before != report->before.records.end())
            file.records[key] = before->second;
          else
            file.records.erase(key);
        };
        for (const TuneResult &result : report->results)
          if (result.problem.empty() && !result.wasKnown)
            undo({result.kernel, report->target, result.bucket});
        for (const ChoiceResult &result : report->choices)
          if (result.problem.empty() && !result.wasKnown)
            undo({result.record, report->target, anyRows});
      });
      return failure(llvm::toString(std::move(error)) + "; the records of this run are not kept" +
                     (undone ? ": " + llvm::toString(std::move(undone)) : ""));
    }
  progress.clear();
  if (options.json) {
    printJson(*report);
    printJsonOfChoices(*report);
  } else {
    printTable(*report);
  }
  if (!options.html.empty())
    if (llvm::Error error = installText(tuningPage(*report), options.html))
      return error;
  if (report->measured() == 0)
    return failure("no kernel was measured" + (!report->results.empty()   ? ": " + report->results[0].problem
                                               : !report->choices.empty() ? ": " + report->choices[0].problem
                                                                          : ""));
  if (!options.json)
    llvm::outs() << "records are in " << tune.database << ", for: compile --database " << tune.database << "\n";
  if (report->left > 0)
    llvm::errs() << (tuningInterrupted ? "ended by the user" : "the budget is used up") << ": " << report->left
                 << (report->left == 1 ? " kernel is" : " kernels are")
                 << " left; the same command goes on from there\n";
  return tuningInterrupted ? endedByUser : 0;
}

void addTuneCommand(Tool &tool) {
  const std::string again = "\n  " + tool.app.get_name() + " tune ";
  CLI::App *command = addCommand(
      tool, "tune", "search the schedules of a graph's kernels on this machine, or through a runner",
      tool.graph.exampleArgument() + "--budget 60s --database tuned.json" + again + tool.graph.exampleArgument() +
          "--target arm-64 --cpu cortex-a76 --runner ./on_board.sh --budget 20s" + again +
          tool.graph.exampleArgument() + "--threads 4 --only parallel" + again +
          "--merge one.json other.json -o both.json");
  auto options = std::make_shared<TuneCommandOptions>();
  tool.graph.addArgument(*command, /*required=*/false);
  addTargetOption(*command, options->tune.target);
  addPrecisionOption(*command, options->precision);
  command->add_option("--budget", options->budget, "time for all kernels together")->default_val("120s");
  command->add_option("--database", options->tune.database,
                      "file to write records to, and to go on from; <cpu>.json unless given");
  command->add_option("--cpu", options->tune.cpu, "whose records they are; this machine's unless there is a runner");
  command->add_option("--runner", options->tune.trial.runner,
                      "a command that is given an executable's path, runs it and prints what it prints");
  command
      ->add_option("--only", options->tune.only,
                   "tune kernels of this class alone, or 'fusion': which ops are one kernel, or 'parallel': when calls "
                   "are split among threads")
      ->check(CLI::IsMember({"pointwise", "row_reduce", "contract", "attend", "pool", "whole", "fusion", "parallel"}));
  command
      ->add_option("--threads", options->tune.threads,
                   "also measure how much work is worth a thread, in forward with so many")
      ->check(CLI::Range(1, int(BURIN_MOST_WORKERS)));
  command->add_option("--start", options->start, "where the search starts, such as tile_rows=4,depth_unroll=2");
  command->add_option("--sweep", options->tune.sweep,
                      "measure so many points of the whole space, or all, instead of searching it");
  command->add_flag(
      "--compare-autoschedulers", options->compareAutoschedulers,
      "in place of a search: time each kernel with the default, with the database's record and as Halide's "
      "autoschedulers schedule it");
  command->add_flag("--again", options->tune.again, "also kernels that the database has already");
  addJobsOption(*command, options->tune.trial.jobs);
  CLI::Option *json = command->add_flag("--json", options->json, "an object per line");
  command->add_option("--html", options->html, "write a page to this file: gains, searches, roofline");
  CLI::Option *output = command->add_option("-o,--output", options->output, "database to write what is merged to");
  command->add_option("--merge", options->merge, "databases of one CPU: the better record of each kernel stays")
      ->expected(2, 100)
      ->needs(output)
      ->excludes(json);
  command->callback([&tool, options] {
    if (!options->merge.empty()) {
      tool.action = [options] { return merge(*options); };
      return;
    }
    if (!tool.graph.isGiven())
      throw CLI::RequiredError("GRAPH or --merge");
    tool.action = [&tool, options] { return tune(tool.graph, *options); };
  });
}

} // namespace burin
