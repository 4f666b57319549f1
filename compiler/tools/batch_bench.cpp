#include "tools/batch_bench.h"
#include "tools/bench_inputs.h"
#include "tools/failure.h"
#include "tools/initial_values.h"
#include "tools/latency.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

namespace {

constexpr double budgetSeconds = 1.5; // of one distribution
constexpr size_t fewestSamples = 5, mostSamples = 2000;

class MixedBatch {
public:
  MixedBatch(CompiledModel &model, int64_t count, bool json)
      : model_(model), entry_(*model.plan().forward), words_(rowWordsOf(entry_)), json_(json) {
    const int64_t maximum = model.plan().axes[0].maximum;
    least_ = std::min<int64_t>(2, maximum);
    most_ = std::max(least_, maximum / 2);
    RandomStream stream(0, "mixed batch");
    for (int64_t sequence = 0; sequence < count; ++sequence)
      offsets_.push_back(offsets_.back() + least_ + int64_t(stream.next() % uint64_t(most_ - least_ + 1)));
  }

  llvm::Error run(Progress &progress) {
    progress.update("mixed batch");
    InputValues inputs = benchInputs(entry_, {rows()});
    model_.reserveScratch({rows()}, sequences());
    CompiledModel::Outputs outputs = model_.makeOutputs(entry_, {rows()}, sequences());
    std::vector<void *> pointers = pointersTo(outputs);

    std::vector<const void *> all = inputs.of(entry_);
    burin_status status = BURIN_OK;
    Latency together = measure([&] {
      const int64_t *offsets = offsets_.data();
      keepWorst(status, model_.callForwardBatch(sequences(), &offsets, all.data(), pointers.data()));
    });
    if (status != BURIN_OK)
      return failure(llvm::Twine("forward_batch: ") + burin_status_text(status));

    std::vector<std::vector<const void *>> each;
    for (int64_t sequence = 0; sequence < sequences(); ++sequence)
      each.push_back(inputs.of(entry_, offsets_[sequence]));
    // Every sequence writes its result to the same place, which has room for all of them.
    Latency oneByOne = measure([&] {
      for (int64_t sequence = 0; sequence < sequences(); ++sequence) {
        int64_t length = offsets_[sequence + 1] - offsets_[sequence];
        keepWorst(status, model_.callForward(&length, each[sequence].data(), pointers.data()));
      }
    });
    if (status != BURIN_OK)
      return failure(llvm::Twine("forward: ") + burin_status_text(status));

    progress.clear();
    if (!json_)
      llvm::outs() << llvm::formatv("mixed batch: {0} {1}s of {2} to {3} {4}s, {5} {4}s in all\n", sequences(),
                                    words_.sequence, least_, most_, words_.row, rows());
    report("forward_batch", together);
    report("one by one", oneByOne);
    return llvm::Error::success();
  }

private:
  int64_t sequences() const { return int64_t(offsets_.size()) - 1; }
  int64_t rows() const { return offsets_.back(); }

  static void keepWorst(burin_status &status, burin_status next) {
    if (status == BURIN_OK)
      status = next;
  }

  static Latency measure(const std::function<void()> &call) {
    return measureLatency(budgetSeconds, fewestSamples, mostSamples, call);
  }

  void report(const char *what, const Latency &latency) const {
    double sequencesPerSecond = double(sequences()) / latency.median, rowsPerSecond = double(rows()) / latency.median;
    if (json_) {
      nlohmann::ordered_json line = {{"mixed", what}, {"sequences", sequences()}, {"rows", rows()}};
      line.update(toJson(latency));
      line["sequences_per_s"] = sequencesPerSecond;
      line["rows_per_s"] = rowsPerSecond;
      llvm::outs() << line.dump() << "\n";
      return;
    }
    llvm::outs() << llvm::formatv("  {0,-26} {1,11:F1} {2}s/s {3,11:F0} {4}s/s {5,11} median\n", what,
                                  sequencesPerSecond, words_.sequence, rowsPerSecond, words_.row,
                                  duration(latency.median));
  }

  CompiledModel &model_;
  const burin_plan_entry &entry_;
  RowWords words_;
  bool json_;
  int64_t least_, most_; // rows of a sequence
  std::vector<int64_t> offsets_ = {0};
};

} // namespace

llvm::Error benchMixedBatch(CompiledModel &model, int64_t count, bool json, Progress &progress) {
  const burin_plan &plan = model.plan();
  if (plan.axis_count != 1)
    return failure("--mixed: the graph has " + llvm::Twine(plan.axis_count) + " time symbols, expected 1");
  for (const burin_plan_tensor &input : llvm::ArrayRef(plan.forward->inputs, plan.forward->input_count))
    if (input.column_axis >= 0)
      return failure("--mixed: input '" + llvm::Twine(input.name) + "' is a mask, expected a graph without one");
  return MixedBatch(model, count, json).run(progress);
}

} // namespace burin
