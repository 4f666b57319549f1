#include "tools/graph_bench.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/bench_inputs.h"
#include "tools/failure.h"
#include "tools/fma_peak.h"
#include "tools/work.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace burin {

namespace {

constexpr double budgetSeconds = 0.7; // of one distribution
constexpr size_t fewestSamples = 50, mostSamples = 200000;
constexpr int peakRuns = 10;
constexpr int64_t contextRows = 64; // that a step sees, where there is room for so many
constexpr int64_t streamRows = 16;  // that a stream takes in turn, so that a gate is open in some and closed in others

/// Time in each kernel, collected by the runtime's probe, which takes no argument of ours: hence one at a time.
class KernelClock {
public:
  KernelClock() { active = this; }
  ~KernelClock() { active = nullptr; }

  void observe(const std::function<void()> &call) {
    burin_rt_probe = &probe;
    call();
    burin_rt_probe = nullptr;
  }

  struct Total {
    double seconds = 0;
    int64_t calls = 0;
  };
  llvm::MapVector<llvm::StringRef, Total> totals; // by kernel, in order of first call

private:
  using Clock = std::chrono::steady_clock;
  static void probe(const burin_plan_call *call, int finished) {
    if (!finished) {
      active->start_ = Clock::now();
      return;
    }
    Total &total = active->totals[call->name];
    total.seconds += std::chrono::duration<double>(Clock::now() - active->start_).count();
    ++total.calls;
  }
  Clock::time_point start_;
  static inline KernelClock *active = nullptr;
};

class GraphTimer {
public:
  GraphTimer(CompiledModel &model, mlir::ModuleOp module, const Target &target, Progress &progress,
             const std::function<void(const EntryTimes &)> &take)
      : model_(model), module_(module), target_(target), progress_(progress), take_(take) {}

  llvm::Error run(llvm::ArrayRef<Rows> lengths) {
    for (int round = 0; round < peakRuns; ++round)
      peak_ = std::max(peak_, measureFmaPeak(target_.lanes));
    for (const Rows &rows : lengths)
      if (llvm::Error error = timeForward(rows))
        return error;
    for (int stream = int(model_.streams().size()); stream-- > 0;)
      if (llvm::Error error = timeRow(stream))
        return error;
    return llvm::Error::success();
  }

private:
  RowCounts countsOf(llvm::ArrayRef<int64_t> rows) const {
    RowCounts counts;
    for (auto [axis, count] : llvm::enumerate(rows))
      counts[model_.plan().axes[axis].name] = count;
    return counts;
  }

  llvm::Error timeForward(const Rows &rows) {
    const burin_plan &plan = model_.plan();
    std::string what = "forward";
    for (int axis = 0; axis < plan.axis_count; ++axis)
      what += llvm::formatv(", {0} {1}", plan.axes[axis].name, rows[axis]).str();
    progress_.update(what);
    InputValues made = benchInputs(*plan.forward, rows);
    std::vector<const void *> inputs = made.of(*plan.forward);
    model_.reserveScratch(rows, 1);
    CompiledModel::Outputs outputs = model_.makeOutputs(*plan.forward, rows, 1);
    std::vector<void *> pointers = pointersTo(outputs);
    burin_status status = BURIN_OK;
    auto call = [&] { status = model_.callForward(rows.data(), inputs.data(), pointers.data()); };
    Latency latency = measureLatency(budgetSeconds, fewestSamples, mostSamples, call);
    if (status != BURIN_OK)
      return failure(what + ": " + burin_status_text(status));
    RowCounts counts = countsOf(rows);
    EntryTimes times = timesOf("forward", what, latency, module_.lookupSymbol<mlir::func::FuncOp>("forward"), counts);
    times.kernels = timeKernels(counts, latency, call, nullptr);
    finish(times);
    return llvm::Error::success();
  }

  /// Rows that a stream takes after a reset.
  static int64_t endOf(const burin_plan_stream &stream) {
    int64_t end = INT64_MAX;
    for (int64_t bound : {stream.capacity, stream.position_end})
      if (bound >= 0)
        end = std::min(end, bound);
    return end;
  }

  /// One row after another of a stream, from a fresh state to where it is full, and again: a distribution over all
  /// positions. A step sees contexts that were filled before, and no latency of theirs counts.
  llvm::Error timeRow(int number) {
    const burin_plan &plan = model_.plan();
    const burin_plan_stream &stream = model_.streams()[number];
    std::string entry = number == 0 ? "step" : std::string("append_") + stream.name, what = entry;
    std::vector<int64_t> rows(plan.axis_count, 1);
    // An op that looks back sees half of the rows that there is room for, on average, or a context's.
    int64_t end = endOf(stream), kept = end == INT64_MAX ? end : (end + 1) / 2;
    if (number == 0)
      for (const burin_plan_stream &context : model_.streams().drop_front()) {
        kept = rows[context.axis] = std::min({contextRows, endOf(context), plan.axes[context.axis].maximum});
        what += llvm::formatv(", {0} {1}", context.name, kept).str();
      }
    progress_.update(what);
    std::vector<int64_t> given = rows;
    given[stream.axis] = std::min(streamRows, plan.axes[stream.axis].maximum);
    InputValues made = benchInputs(*plan.forward, given);
    std::vector<std::vector<const void *>> inputs;
    for (int64_t row = 0; row < given[stream.axis]; ++row)
      inputs.push_back(made.of(*stream.one, row));
    CompiledModel::Outputs outputs = model_.makeStreamOutputs(number, 1);
    std::vector<void *> pointers = pointersTo(outputs);
    model_.reserveScratch(rows, 1);

    int64_t taken = 0;
    burin_status status = BURIN_OK;
    auto begin = [&] {
      status = model_.callReset();
      for (int context = 1; number == 0 && context < plan.stream_count && status == BURIN_OK; ++context) {
        const burin_plan_stream &filled = model_.streams()[context];
        status = model_.callAdvance(context, rows[filled.axis], made.of(*filled.one).data(), nullptr);
      }
      taken = 0;
    };
    auto beginWhenFull = [&] {
      if (taken == end && status == BURIN_OK)
        begin();
      ++taken;
    };
    auto call = [&] {
      const void *const *row = inputs[size_t(taken) % inputs.size()].data();
      if (status == BURIN_OK)
        status =
            number == 0 ? model_.callStep(row, pointers.data()) : model_.callAdvance(number, 1, row, pointers.data());
    };
    begin();
    Latency latency = measureLatency(budgetSeconds, fewestSamples, mostSamples, call, beginWhenFull);
    if (status != BURIN_OK)
      return failure(what + ": " + burin_status_text(status));
    RowCounts counts = countsOf(rows);
    counts[""] = kept;
    EntryTimes times = timesOf(entry, what, latency, entryOf(module_, stream.name, /*many=*/false), counts);
    times.kernels = timeKernels(counts, latency, call, beginWhenFull);
    finish(times);
    return llvm::Error::success();
  }

  EntryTimes timesOf(const std::string &entry, const std::string &what, const Latency &latency,
                     mlir::func::FuncOp function, const RowCounts &counts) const {
    double flops = flopsIn(function, counts);
    return {entry, what, latency, flops, percentOfPeak(flops, latency.median), peak_, {}};
  }

  double percentOfPeak(double flops, double seconds) const { return 100 * flops / seconds * 1e-9 / peak_; }

  void finish(const EntryTimes &times) {
    progress_.clear();
    take_(times);
  }

  /// A second run under the probe, whose clock costs some tens of nanoseconds a kernel.
  std::vector<KernelTimes> timeKernels(const RowCounts &counts, const Latency &latency,
                                       const std::function<void()> &call, const std::function<void()> &between) {
    KernelClock clock;
    int64_t repetitions = std::clamp<int64_t>(int64_t(0.2 / latency.median), 3, 20000);
    for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
      if (between)
        between();
      clock.observe(call);
    }
    double all = 0;
    for (auto &[symbol, total] : clock.totals)
      all += total.seconds;
    std::vector<KernelTimes> kernels;
    for (auto &[symbol, total] : clock.totals) {
      const KernelReport &kernel = *model_.kernelNamed(symbol);
      double each = total.seconds / double(repetitions), calls = double(total.calls) / double(repetitions);
      double flops = flopsIn(module_.lookupSymbol<mlir::func::FuncOp>(kernel.function), counts) * calls;
      kernels.push_back(
          {kernel.function, kernel.kernelClass, calls, each, total.seconds / all, percentOfPeak(flops, each)});
    }
    return kernels;
  }

  CompiledModel &model_;
  mlir::ModuleOp module_; // after the passes
  const Target &target_;
  Progress &progress_;
  const std::function<void(const EntryTimes &)> &take_;
  double peak_ = 0;
};

/// What `burin bench` prints: a table, or an object per line.
class Printer {
public:
  Printer(const burin_plan &plan, const Target &target, int threads, bool json)
      : plan_(plan), target_(target), threads_(threads), json_(json) {}

  void print(const EntryTimes &times) {
    if (json_) {
      nlohmann::ordered_json line = {{"entry", times.what}, {"target", target_.name.str()}, {"threads", threads_}};
      line.update(toJson(times.latency));
      line["flops"] = times.flops;
      line["percent_of_fma_peak"] = times.percentOfPeak;
      llvm::outs() << line.dump() << "\n";
      for (const KernelTimes &kernel : times.kernels) {
        nlohmann::ordered_json of = {{"entry", times.what},
                                     {"kernel", kernel.function},
                                     {"class", kernel.kernelClass},
                                     {"calls", kernel.calls},
                                     {"mean_s", kernel.seconds},
                                     {"part", kernel.part},
                                     {"percent_of_fma_peak", kernel.percentOfPeak}};
        llvm::outs() << of.dump() << "\n";
      }
      return;
    }
    if (!hasHead_)
      llvm::outs() << llvm::formatv("{0} on {1}, {2}; FMA peak of one {3:F1} GFLOP/s\n", plan_.name, target_.name,
                                    threads(), times.peak)
                   << llvm::formatv("{0,-28} {1,11} {2,11} {3,11} {4,11} {5,9}\n", "", "min", "median", "p99", "p99.9",
                                    "% of peak");
    hasHead_ = true;
    const Latency &latency = times.latency;
    llvm::outs() << llvm::formatv("{0,-28} {1,11} {2,11} {3,11} {4,11} {5,9:F1}\n", times.what,
                                  duration(latency.minimum), duration(latency.median), duration(latency.p99),
                                  duration(latency.p999), times.percentOfPeak);
    for (const KernelTimes &kernel : times.kernels)
      llvm::outs() << llvm::formatv(
          "  {0,-12} {1,-10} {2,4}x {3,11}, {4,5:F1} % of the kernels' time{5}\n", kernel.function, kernel.kernelClass,
          llvm::format("%.3g", kernel.calls), duration(kernel.seconds), 100 * kernel.part,
          kernel.percentOfPeak > 0 ? llvm::formatv(", {0:F1} % of peak", kernel.percentOfPeak).str() : "");
  }

private:
  std::string threads() const {
    return threads_ == 1 ? "one thread" : std::to_string(threads_) + " threads in forward";
  }

  const burin_plan &plan_;
  const Target &target_;
  int threads_;
  bool json_, hasHead_ = false;
};

/// The largest sequence, a quarter of it, a sixteenth, one row.
std::vector<Rows> lengthsToTry(const burin_plan &plan) {
  std::vector<Rows> all;
  for (int64_t part : {int64_t(1), int64_t(4), int64_t(16), int64_t(INT64_MAX)}) {
    Rows rows;
    for (int64_t most : mostRows(plan))
      rows.push_back(std::max<int64_t>(1, most / part));
    if (!llvm::is_contained(all, rows))
      all.push_back(rows);
  }
  return all;
}

llvm::Error checkTimes(const burin_plan &plan, llvm::ArrayRef<int64_t> times) {
  for (const burin_plan_axis &axis : llvm::ArrayRef(plan.axes, plan.axis_count))
    for (int64_t time : times)
      if (time > axis.maximum)
        return failure("--times: " + llvm::Twine(time) + " rows of '" + axis.name + "', the graph takes at most " +
                       llvm::Twine(axis.maximum));
  return llvm::Error::success();
}

} // namespace

Rows mostRows(const burin_plan &plan) {
  Rows rows;
  for (const burin_plan_axis &axis : llvm::ArrayRef(plan.axes, plan.axis_count))
    rows.push_back(axis.maximum);
  return rows;
}

llvm::Error timeGraph(CompiledModel &model, mlir::ModuleOp module, llvm::ArrayRef<Rows> lengths, const Target &target,
                      Progress &progress, const std::function<void(const EntryTimes &)> &take) {
  return GraphTimer(model, module, target, progress, take).run(lengths);
}

llvm::Error benchGraph(CompiledModel &model, mlir::ModuleOp module, const GraphBenchOptions &options,
                       const Target &target, Progress &progress) {
  const burin_plan &plan = model.plan();
  if (llvm::Error error = checkTimes(plan, options.times))
    return error;
  std::vector<Rows> lengths = options.times.empty() ? lengthsToTry(plan) : std::vector<Rows>();
  for (int64_t time : options.times)
    lengths.emplace_back(plan.axis_count, time); // each time symbol has the same number of rows
  Printer printer(plan, target, options.threads, options.json);
  if (llvm::Error error =
          timeGraph(model, module, lengths, target, progress, [&](const EntryTimes &times) { printer.print(times); }))
    return error;
  if (!model.hasStep() && !options.json)
    llvm::outs() << "no step: " << model.noStepReason() << "\n";
  return llvm::Error::success();
}

} // namespace burin
