#include "tools/graph_bench.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/bench_inputs.h"
#include "tools/failure.h"
#include "tools/fma_peak.h"
#include "tools/latency.h"
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
class KernelTimes {
public:
  KernelTimes() { active = this; }
  ~KernelTimes() { active = nullptr; }

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
  static inline KernelTimes *active = nullptr;
};

class GraphBench {
public:
  GraphBench(CompiledModel &model, mlir::ModuleOp module, const GraphBenchOptions &options, const Target &target,
             Progress &progress)
      : model_(model), module_(module), options_(options), target_(target), progress_(progress) {}

  llvm::Error run() {
    if (llvm::Error error = checkTimes())
      return error;
    for (int round = 0; round < peakRuns; ++round)
      peak_ = std::max(peak_, measureFmaPeak(target_.lanes));
    const burin_plan &plan = model_.plan();
    if (!options_.json)
      llvm::outs() << llvm::formatv("{0} on {1}, one thread; FMA peak {2:F1} GFLOP/s\n", plan.name, target_.name, peak_)
                   << llvm::formatv("{0,-28} {1,11} {2,11} {3,11} {4,11} {5,9}\n", "", "min", "median", "p99", "p99.9",
                                    "% of peak");
    for (const std::vector<int64_t> &rows : options_.times.empty() ? rowsToTry() : rowsGiven())
      if (llvm::Error error = benchForward(rows))
        return error;
    for (int stream = int(model_.streams().size()); stream-- > 0;)
      if (llvm::Error error = benchRow(stream))
        return error;
    if (model_.hasStep())
      return llvm::Error::success();
    progress_.clear();
    if (!options_.json)
      llvm::outs() << "no step: " << model_.noStepReason() << "\n";
    return llvm::Error::success();
  }

private:
  llvm::Error checkTimes() const {
    for (const burin_plan_axis &axis : llvm::ArrayRef(model_.plan().axes, model_.plan().axis_count))
      for (int64_t time : options_.times)
        if (time > axis.maximum)
          return failure("--times: " + llvm::Twine(time) + " rows of '" + axis.name + "', the graph takes at most " +
                         llvm::Twine(axis.maximum));
    return llvm::Error::success();
  }

  /// The largest sequence, a quarter of it, a sixteenth, one row.
  std::vector<std::vector<int64_t>> rowsToTry() const {
    std::vector<std::vector<int64_t>> all;
    for (int64_t part : {int64_t(1), int64_t(4), int64_t(16), int64_t(INT64_MAX)}) {
      std::vector<int64_t> rows;
      for (int axis = 0; axis < model_.plan().axis_count; ++axis)
        rows.push_back(std::max<int64_t>(1, model_.plan().axes[axis].maximum / part));
      if (!llvm::is_contained(all, rows))
        all.push_back(rows);
    }
    return all;
  }

  /// Each time symbol has the same number of rows.
  std::vector<std::vector<int64_t>> rowsGiven() const {
    std::vector<std::vector<int64_t>> all;
    for (int64_t time : options_.times)
      all.emplace_back(model_.plan().axis_count, time);
    return all;
  }

  RowCounts countsOf(llvm::ArrayRef<int64_t> rows) const {
    RowCounts counts;
    for (auto [axis, count] : llvm::enumerate(rows))
      counts[model_.plan().axes[axis].name] = count;
    return counts;
  }

  llvm::Error benchForward(const std::vector<int64_t> &rows) {
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
    report(what, latency, flopsIn(module_.lookupSymbol<mlir::func::FuncOp>("forward"), counts));
    reportKernels(what, counts, latency, call, nullptr);
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
  llvm::Error benchRow(int number) {
    const burin_plan &plan = model_.plan();
    const burin_plan_stream &stream = model_.streams()[number];
    std::string what = number == 0 ? "step" : std::string("append_") + stream.name;
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
    report(what, latency, flopsIn(entryOf(module_, stream.name, /*many=*/false), counts));
    reportKernels(what, counts, latency, call, beginWhenFull);
    return llvm::Error::success();
  }

  void report(const std::string &what, const Latency &latency, double flops) {
    progress_.clear();
    double percent = 100 * flops / latency.median * 1e-9 / peak_;
    if (options_.json) {
      nlohmann::ordered_json line = {{"entry", what}, {"target", target_.name.str()}};
      line.update(toJson(latency));
      line["flops"] = flops;
      line["percent_of_fma_peak"] = percent;
      llvm::outs() << line.dump() << "\n";
      return;
    }
    llvm::outs() << llvm::formatv("{0,-28} {1,11} {2,11} {3,11} {4,11} {5,9:F1}\n", what, duration(latency.minimum),
                                  duration(latency.median), duration(latency.p99), duration(latency.p999), percent);
  }

  /// A second run under the probe, whose clock costs some tens of nanoseconds a kernel.
  void reportKernels(const std::string &what, const RowCounts &counts, const Latency &latency,
                     const std::function<void()> &call, const std::function<void()> &between) {
    KernelTimes times;
    int64_t repetitions = std::clamp<int64_t>(int64_t(0.2 / latency.median), 3, 20000);
    for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
      if (between)
        between();
      times.observe(call);
    }
    double all = 0;
    for (auto &[kernel, total] : times.totals)
      all += total.seconds;
    for (auto &[symbol, total] : times.totals) {
      const KernelReport &kernel = *model_.kernelNamed(symbol);
      double each = total.seconds / double(repetitions);
      double calls = double(total.calls) / double(repetitions); // part of one where a gate is closed now and then
      double percent = 100 * flopsIn(module_.lookupSymbol<mlir::func::FuncOp>(kernel.function), counts) * calls / each *
                       1e-9 / peak_;
      if (options_.json) {
        nlohmann::ordered_json line = {
            {"entry", what},  {"kernel", kernel.function},   {"class", kernel.kernelClass},   {"calls", calls},
            {"mean_s", each}, {"part", total.seconds / all}, {"percent_of_fma_peak", percent}};
        llvm::outs() << line.dump() << "\n";
      } else {
        llvm::outs() << llvm::formatv("  {0,-12} {1,-10} {2,4}x {3,11}, {4,5:F1} % of the kernels' time{5}\n",
                                      kernel.function, kernel.kernelClass, llvm::format("%.3g", calls), duration(each),
                                      100 * total.seconds / all,
                                      percent > 0 ? llvm::formatv(", {0:F1} % of peak", percent).str() : "");
      }
    }
  }

  CompiledModel &model_;
  mlir::ModuleOp module_; // after the passes
  const GraphBenchOptions &options_;
  const Target &target_;
  Progress &progress_;
  double peak_ = 0;
};

} // namespace

llvm::Error benchGraph(CompiledModel &model, mlir::ModuleOp module, const GraphBenchOptions &options,
                       const Target &target, Progress &progress) {
  return GraphBench(model, module, options, target, progress).run();
}

} // namespace burin
