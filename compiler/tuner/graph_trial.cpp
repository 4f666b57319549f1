#include "tuner/graph_trial.h"
#include "schedules/tuner/row_buckets.h"
#include "tools/comparison.h"
#include "tools/failure.h"
#include "tuner/acceptance.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <chrono>
#include <limits>

namespace burin {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double mostSeconds = 10; // of one run of several rounds, which may then be fewer
constexpr int leastRounds = 3;
constexpr int64_t streamRows = 16; // that a stream takes in one call

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

} // namespace

GraphTrial::GraphTrial(std::vector<GraphWay> ways, const std::atomic<bool> &interrupted)
    : ways_(std::move(ways)), interrupted_(interrupted) {
  CompiledModel &model = *ways_.front().model;
  const burin_plan &plan = model.plan();
  int64_t most = 1;
  for (const burin_plan_axis &axis : llvm::ArrayRef(plan.axes, plan.axis_count))
    most = std::max(most, axis.maximum);
  // Bits are compared where tiles have tails, too.
  for (int64_t length : {int64_t(2), int64_t(7), int64_t(13), int64_t(29)})
    if (length < most)
      calls_.push_back({"forward", length, false});
  for (int bucket = 0; bucket < rowBuckets; ++bucket) {
    calls_.push_back({"forward", std::min(mostRowsOf(bucket), most), true});
    if (mostRowsOf(bucket) >= most)
      break;
  }
  if (model.hasStep()) {
    const burin_plan_stream &stream = model.streams().front();
    int64_t rows = std::min(streamRows, plan.axes[stream.axis].maximum);
    for (int64_t bound : {stream.capacity, stream.position_end})
      rows = bound >= 0 ? std::min(rows, bound) : rows;
    calls_.push_back({"step", rows, true});
  }
  for (const GraphCall &call : calls_) {
    std::vector<int64_t> rows;
    for (const burin_plan_axis &axis : llvm::ArrayRef(plan.axes, plan.axis_count))
      rows.push_back(std::min(call.length, axis.maximum));
    inputs_.push_back(benchInputs(*plan.forward, rows));
    rows_.push_back(std::move(rows));
  }
  repetitions_.resize(calls_.size());
  expected_.resize(calls_.size());
}

CompiledModel &GraphTrial::modelOf(size_t way) {
  if (ways_[way].grain)
    ways_[way].model->setGrain(*ways_[way].grain);
  return *ways_[way].model;
}

// ---- Bits

/// Resets the stream, and fills the contexts that a step sees.
burin_status GraphTrial::beginStream(CompiledModel &model, size_t call) {
  burin_status status = model.callReset();
  for (int context = 1; context < int(model.streams().size()) && status == BURIN_OK; ++context) {
    const burin_plan_stream &filled = model.streams()[context];
    model.reserveScratchFor(context, rows_[call][filled.axis]);
    status = model.callAdvance(context, rows_[call][filled.axis], inputs_[call].of(*filled.one).data(), nullptr);
  }
  return status;
}

llvm::Expected<std::vector<float>> GraphTrial::resultsOf(size_t way, size_t call) {
  CompiledModel &model = modelOf(way);
  std::vector<float> all;
  auto take = [&](const CompiledModel::Outputs &outputs) {
    for (const std::vector<float> &output : outputs)
      all.insert(all.end(), output.begin(), output.end());
  };
  if (calls_[call].entry == "forward") {
    auto outputs = model.forward(rows_[call], inputs_[call].of(*model.plan().forward));
    if (!outputs)
      return outputs.takeError();
    take(*outputs);
    return all;
  }
  if (burin_status status = beginStream(model, call); status != BURIN_OK)
    return failure(std::string("reset: ") + burin_status_text(status));
  for (int64_t row = 0; row < calls_[call].length; ++row) {
    auto outputs = model.step(inputs_[call].of(*model.streams().front().one, row));
    if (!outputs)
      return outputs.takeError();
    take(*outputs);
  }
  return all;
}

std::string GraphTrial::whyRefused(size_t way) {
  for (size_t call = 0; call < calls_.size() && !interrupted_; ++call) {
    std::string what = calls_[call].entry + " of " + std::to_string(calls_[call].length) + " rows";
    auto got = resultsOf(way, call);
    if (!got)
      return what + ": " + llvm::toString(got.takeError());
    if (way == 0)
      expected_[call] = std::move(*got);
    else if (Comparison comparison = compareBits(*got, expected_[call], {int64_t(got->size())}); !comparison.ok)
      return what + ": other bits than the default's: expected " + std::to_string(comparison.expected) + ", got " +
             std::to_string(comparison.got);
  }
  return "";
}

// ---- Time

double GraphTrial::forwardSeconds(CompiledModel &model, size_t call, int64_t repetitions) {
  const burin_plan_entry &entry = *model.plan().forward;
  std::vector<const void *> inputs = inputs_[call].of(entry);
  model.reserveScratch(rows_[call], 1);
  CompiledModel::Outputs outputs = model.makeOutputs(entry, rows_[call], 1);
  std::vector<void *> pointers = pointersTo(outputs);
  Clock::time_point start = Clock::now();
  for (int64_t repetition = 0; repetition < repetitions; ++repetition)
    if (model.callForward(rows_[call].data(), inputs.data(), pointers.data()) != BURIN_OK)
      return infinity;
  return secondsSince(start) / double(repetitions);
}

double GraphTrial::stepSeconds(CompiledModel &model, size_t call, int64_t repetitions) {
  int64_t rows = calls_[call].length;
  std::vector<std::vector<const void *>> inputs;
  for (int64_t row = 0; row < rows; ++row)
    inputs.push_back(inputs_[call].of(*model.streams().front().one, row));
  CompiledModel::Outputs outputs = model.makeStreamOutputs(0, 1);
  std::vector<void *> pointers = pointersTo(outputs);
  double seconds = 0;
  for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
    if (beginStream(model, call) != BURIN_OK)
      return infinity;
    Clock::time_point start = Clock::now();
    for (int64_t row = 0; row < rows; ++row)
      if (model.callStep(inputs[row].data(), pointers.data()) != BURIN_OK)
        return infinity;
    seconds += secondsSince(start);
  }
  return seconds / double(repetitions * rows);
}

double GraphTrial::secondsOf(size_t way, size_t call, int64_t repetitions) {
  CompiledModel &model = modelOf(way);
  return calls_[call].entry == "forward" ? forwardSeconds(model, call, repetitions)
                                         : stepSeconds(model, call, repetitions);
}

std::vector<std::vector<double>> GraphTrial::time(llvm::ArrayRef<size_t> ways, llvm::ArrayRef<size_t> calls,
                                                  int rounds) {
  for (size_t call : calls)
    if (repetitions_[call] == 0) {
      secondsOf(0, call, 1); // from cold caches
      double all = secondsOf(0, call, 1) * double(calls_[call].entry == "step" ? calls_[call].length : 1);
      repetitions_[call] = std::clamp<int64_t>(int64_t(secondsEach / all), 1, 10000);
    }
  std::vector<std::vector<double>> seconds(ways_.size(), std::vector<double>(calls_.size(), infinity));
  Clock::time_point start = Clock::now();
  for (int round = 0; round < rounds && (round < leastRounds || secondsSince(start) < mostSeconds); ++round)
    for (size_t call : calls)
      for (size_t way : ways)
        if (!interrupted_)
          seconds[way][call] = std::min(seconds[way][call], secondsOf(way, call, repetitions_[call]));
  return seconds;
}

llvm::Expected<GraphTrial::Found> GraphTrial::findBest(llvm::StringRef entry, llvm::ArrayRef<size_t> ways) {
  std::vector<size_t> calls;
  for (auto [number, call] : llvm::enumerate(calls_))
    if (call.timed && call.entry == entry)
      calls.push_back(number);
  Found found;
  found.costs.assign(ways.size(), infinity);
  std::vector<size_t> places; // into `ways`, of those that may be used
  for (auto [place, way] : llvm::enumerate(ways)) {
    found.refused.push_back(whyRefused(way));
    if (found.refused.back().empty())
      places.push_back(place);
    else if (way == 0)
      return failure("the default: " + found.refused.back());
  }
  auto measure = [&](int rounds) {
    std::vector<size_t> turns{0};
    for (size_t place : places)
      if (ways[place] != 0)
        turns.push_back(ways[place]);
    std::vector<std::vector<double>> seconds = time(turns, calls, rounds);
    for (size_t place : places)
      found.costs[place] = costOf(seconds[ways[place]], seconds[0], calls);
  };
  auto byCost = [&](size_t a, size_t b) { return found.costs[a] < found.costs[b]; };
  measure(firstRounds);
  if (interrupted_) // and nothing was measured
    return failure("ended");
  llvm::stable_sort(places, byCost);
  places.resize(std::min(places.size(), std::max<size_t>((places.size() + 2) / 3, 2)));
  measure(longRounds);
  if (interrupted_)
    return failure("ended");
  size_t best = ways[*std::min_element(places.begin(), places.end(), byCost)];
  bool confirmed = best != 0;
  found.seconds = found.defaultSeconds = infinity;
  for (int run = 0; run < confirmRuns && !interrupted_; ++run) {
    std::vector<std::vector<double>> seconds = time({0, best}, calls, confirmRounds);
    confirmed = confirmed && isBetter(seconds[best], seconds[0], calls);
    found.seconds = std::min(found.seconds, seconds[best][calls.back()]);
    found.defaultSeconds = std::min(found.defaultSeconds, seconds[0][calls.back()]);
  }
  if (interrupted_)
    return failure("ended");
  if (!std::isfinite(found.defaultSeconds))
    return failure(entry + " of the default fails");
  found.way = confirmed ? best : 0;
  if (!confirmed)
    found.seconds = found.defaultSeconds;
  return found;
}

} // namespace burin
