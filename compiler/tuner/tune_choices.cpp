#include "tuner/tune_choices.h"
#include "emit/compile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/failure.h"
#include "tools/initial_values.h"
#include "tuner/graph_trial.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <set>

using namespace mlir;

namespace burin {

namespace {

/// All points of some choices, each unset or one of its values; those that set fewest first.
std::vector<GraphChoices> pointsOf(ChoiceOf of) {
  std::vector<GraphChoices> points(1);
  for (const ChoiceRow &row : allChoices()) {
    if (row.of != of)
      continue;
    for (size_t i = 0, before = points.size(); i < before; ++i)
      for (int64_t value : row.values) {
        points.push_back(points[i]);
        points.back().set(row.choice, value);
      }
  }
  llvm::stable_sort(points,
                    [](const GraphChoices &a, const GraphChoices &b) { return a.values().size() < b.values().size(); });
  return points;
}

/// The kernels that each entry calls, in order, as text.
llvm::Expected<std::map<std::string, std::string>> kernelsOfEntries(ModuleOp graph, const Target &target,
                                                                    const TunedSchedules &tuned) {
  OwningOpRef<ModuleOp> copy = graph.clone();
  if (llvm::Error error = runPasses(*copy, target, tuned))
    return error;
  llvm::StringMap<std::string> texts;
  for (const KernelText &kernel : kernelsOf(*copy))
    texts[kernel.function] = kernel.text;
  std::map<std::string, std::string> ofEntries;
  for (llvm::StringRef entry : entriesWithChoices)
    if (auto function = copy->lookupSymbol<func::FuncOp>(entry))
      for (auto call : function.getOps<func::CallOp>())
        ofEntries[entry.str()] += texts[call.getCallee()];
  return ofEntries;
}

TuningDatabase recordsOf(ModuleOp graph, const Target &target, const std::map<std::string, GraphChoices> &ofEntries) {
  TuningDatabase database;
  std::string name = graphName(graph);
  for (auto &[entry, choices] : ofEntries)
    database.records[{recordName(entry, name), target.name.str(), anyRows}].choices = choices;
  return database;
}

/// What a search tried: the ways behind the first, which is the default.
std::vector<TriedChoices> triedOf(llvm::ArrayRef<GraphChoices> alternatives, const GraphTrial::Found &found) {
  std::vector<TriedChoices> tried;
  for (size_t place = 1; place < found.costs.size(); ++place)
    tried.push_back({alternatives[place], found.costs[place], found.refused[place]});
  return tried;
}

} // namespace

llvm::Expected<std::map<std::string, std::vector<GraphChoices>>> kernelAlternatives(ModuleOp graph,
                                                                                    const Target &target) {
  std::map<std::string, std::vector<GraphChoices>> alternatives;
  std::map<std::string, std::set<std::string>> seen; // texts, by entry
  std::vector<std::string> entries;                  // that the graph has
  for (const GraphChoices &point : pointsOf(ChoiceOf::kernels)) {
    std::map<std::string, GraphChoices> chosen;
    for (const std::string &entry : entries)
      chosen[entry] = point;
    auto kernels = kernelsOfEntries(graph, target, TunedSchedules(recordsOf(graph, target, chosen)));
    if (!kernels)
      return kernels.takeError();
    for (auto &[entry, text] : *kernels) {
      if (point.empty())
        entries.push_back(entry);
      if (seen[entry].insert(text).second)
        alternatives[entry].push_back(point);
    }
  }
  std::erase_if(alternatives, [](auto &its) { return its.second.size() < 2; });
  return alternatives;
}

std::vector<GraphChoices> grainAlternatives() {
  std::vector<GraphChoices> alternatives;
  std::vector<ParallelGrain> seen;
  for (const GraphChoices &point : pointsOf(ChoiceOf::threads))
    if (ParallelGrain grain = grainOf(point); !llvm::is_contained(seen, grain)) {
      seen.push_back(grain);
      alternatives.push_back(point);
    }
  return alternatives;
}

llvm::Error ChoiceTuner::makeWeights() {
  if (!weights_.empty())
    return llvm::Error::success();
  auto initial = initialWeights(signatureOf(graph_), 0, progress_);
  if (!initial)
    return initial.takeError();
  weights_ = initial->bytes();
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CompiledModel>> ChoiceTuner::compile(TuningDatabase records, int threads) {
  TuningSource source;
  source.records = std::make_shared<const TuningDatabase>(std::move(records));
  OwningOpRef<ModuleOp> copy = graph_.clone();
  auto model = CompiledModel::compile(*copy, target_.name, options_.trial.jobs, progress_, source);
  if (!model)
    return model.takeError();
  if (llvm::Error error = makeWeights())
    return error;
  if (llvm::Error error = (*model)->openBytes(weights_, threads))
    return error;
  return model;
}

llvm::Expected<std::vector<ChoiceResult>> ChoiceTuner::tuneKernels(std::chrono::steady_clock::time_point end) {
  auto alternatives = kernelAlternatives(graph_, target_);
  if (!alternatives)
    return alternatives.takeError();
  std::vector<ChoiceResult> results;
  if (alternatives->empty())
    return results;
  // The model of a number has the alternative of that number in every entry: all entries are measured at once.
  size_t most = 0;
  for (auto &[entry, its] : *alternatives)
    most = std::max(most, its.size());
  std::vector<std::unique_ptr<CompiledModel>> models;
  std::vector<GraphWay> ways;
  std::map<size_t, size_t> wayOf; // by number of the alternative; none of what does not compile
  std::map<size_t, std::string> problems;
  for (size_t number = 0; number < most; ++number) {
    if (tuningInterrupted)
      return failure("ended");
    if (number > 1 && std::chrono::steady_clock::now() >= end)
      break;
    std::map<std::string, GraphChoices> chosen;
    for (auto &[entry, its] : *alternatives)
      if (number < its.size())
        chosen[entry] = its[number];
    auto model = compile(recordsOf(graph_, target_, chosen), 1);
    if (!model) {
      problems[number] = llvm::toString(model.takeError());
      if (number == 0)
        return failure("the derived kernels: " + problems[0]);
      continue;
    }
    wayOf[number] = ways.size();
    models.push_back(std::move(*model));
    ways.push_back({models.back().get()});
  }
  progress_.update("timing alternatives of the graph's kernels");
  GraphTrial trial(ways, tuningInterrupted);
  for (auto &[entry, its] : *alternatives) {
    std::vector<size_t> candidates;
    std::vector<GraphChoices> measured;
    ChoiceResult result;
    result.record = recordName(entry, graphName(graph_));
    result.about = "the kernels of " + entry + " of " + graph_.getName()->str();
    result.of = "fusion";
    for (auto [number, choices] : llvm::enumerate(its)) {
      if (auto way = wayOf.find(number); way != wayOf.end()) {
        candidates.push_back(way->second);
        measured.push_back(choices);
      } else if (auto problem = problems.find(number); problem != problems.end()) {
        result.tried.push_back({choices, INFINITY, problem->second});
      }
    }
    auto found = trial.findBest(entry, candidates);
    if (!found)
      return found.takeError();
    llvm::append_range(result.tried, triedOf(measured, *found));
    result.best = measured[llvm::find(candidates, found->way) - candidates.begin()];
    result.seconds = found->seconds;
    result.defaultSeconds = found->defaultSeconds;
    results.push_back(std::move(result));
  }
  return results;
}

llvm::Expected<ChoiceResult> ChoiceTuner::tuneGrain(const TuningDatabase &database) {
  auto model = compile(database, options_.threads);
  if (!model)
    return model.takeError();
  std::vector<GraphChoices> alternatives = grainAlternatives();
  std::vector<GraphWay> ways;
  std::vector<size_t> all;
  for (const GraphChoices &choices : alternatives) {
    all.push_back(ways.size());
    ways.push_back({model->get(), grainOf(choices)});
  }
  progress_.update("timing when calls are split among threads");
  GraphTrial trial(ways, tuningInterrupted);
  auto found = trial.findBest("forward", all);
  if (!found)
    return found.takeError();
  ChoiceResult result;
  result.record = grainRecordName.str();
  result.about = std::to_string(options_.threads) + " threads, forward of " + graph_.getName()->str();
  result.of = "parallel";
  result.tried = triedOf(alternatives, *found);
  result.best = alternatives[found->way];
  result.seconds = found->seconds;
  result.defaultSeconds = found->defaultSeconds;
  return result;
}

} // namespace burin
