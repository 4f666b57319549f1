// What a record chooses for a whole graph changes no bit: which ops are one kernel, and when calls are split among
// threads. And the trial that compares such choices refuses what does.
#include "emit/tuned_schedules.h"
#include "law_graphs.h"
#include "schedules/tuner/row_buckets.h"
#include "tuner/graph_trial.h"
#include "tuner/tune_choices.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace burin;
using namespace burin::laws;

namespace {

TuningSource recordsFor(const DeclaredGraph &graph, const Target &target, const GraphChoices &forward,
                        const GraphChoices &step) {
  TuningDatabase database("some-cpu");
  std::string name = graphName(*graph.module());
  database.records[{recordName("forward", name), target.name.str(), anyRows}].choices = forward;
  database.records[{recordName("step", name), target.name.str(), anyRows}].choices = step;
  return {"", "", std::make_shared<const TuningDatabase>(database)};
}

size_t callsOf(const burin_plan_entry &entry) { return size_t(entry.call_count); }

std::unique_ptr<CompiledModel> compiled(const LawModel &model, const Target &target, const TuningSource &tuning = {}) {
  Progress progress("compiling");
  mlir::OwningOpRef<mlir::ModuleOp> module = model.graph.module();
  auto made = CompiledModel::compile(*module, target.name, 0, progress, tuning);
  if (!made)
    throw std::runtime_error(llvm::toString(made.takeError()));
  if (llvm::Error error = (*made)->openBytes(model.graph.fileOf(model.weights)))
    throw std::runtime_error(llvm::toString(std::move(error)));
  return std::move(*made);
}

} // namespace

TEST(same_bits_of_choices, whichever_ops_are_one_kernel) {
  const uint64_t seed = 97;
  const LawGraph &law = lawGraph("causal_encoder");
  const GraphChoices apart = {{Choice::norm_in_contract, 0}, {Choice::residual_in_contract, 0}};
  const std::pair<GraphChoices, GraphChoices> choices[] = {
      {{{Choice::norm_in_contract, 0}}, {{Choice::whole_step, 0}}},
      {{{Choice::residual_in_contract, 0}}, {{Choice::whole_step, 0}, {Choice::norm_in_contract, 0}}},
      {apart, {{Choice::whole_step, 1}, {Choice::norm_in_contract, 0}, {Choice::residual_in_contract, 0}}}};
  for (const Target &target : allTargets()) {
    if (!whyNotTested(target).empty() || !isFullyTested(target))
      continue;
    const LawModel &model = LawModel::of(law, target);
    for (const auto &[forwards, steps] : choices) {
      CompiledGraph other(model.graph, target.name, recordsFor(model.graph, target, forwards, steps));
      OpenedModel opened(other, model.graph, model.weights);
      EXPECT_GT(callsOf(*opened.plan().forward), callsOf(*model.opened.plan().forward)) << forwards.text();
      for (int64_t rows : {1, 2, 5, 17, 40}) {
        Sequence sequence = model.graph.randomSequence({rows}, seed);
        Outputs expected = forward(model.opened, sequence), got = forward(opened, sequence);
        Case test{law.name, target.name.str(), "forward of " + std::to_string(rows) + " rows with " + forwards.text(),
                  seed};
        if (!expectSameBits(test, got[0], expected[0], model.graph.signature().outputs[0].columns))
          return;
      }
      Sequence sequence = model.graph.randomSequence({37}, seed);
      Stream stream(opened), expectedStream(model.opened);
      for (int64_t row = 0; row < 37; ++row) {
        Outputs got = stream.step(sequence, row), expected = expectedStream.step(sequence, row);
        Case test{law.name, target.name.str(), "step " + std::to_string(row + 1) + " with " + steps.text(), seed};
        if (!expectSameBits(test, got[0], expected[0], int64_t(got[0].size())))
          return;
      }
    }
  }
}

// The search gets what the graph has, each once: the derived first, and the fewest choices that give other kernels.
TEST(graph_choices, alternatives_are_those_that_give_other_kernels) {
  const LawGraph &law = lawGraph("causal_encoder");
  const Target &target = *hostTarget();
  mlir::OwningOpRef<mlir::ModuleOp> module = LawModel::of(law, target).graph.module();
  auto alternatives = kernelAlternatives(*module, target);
  ASSERT_TRUE(bool(alternatives)) << llvm::toString(alternatives.takeError());
  for (const char *entry : {"forward", "step"}) {
    const std::vector<GraphChoices> &its = (*alternatives)[entry];
    ASSERT_GE(its.size(), 3u) << entry;
    EXPECT_TRUE(its.front().empty()) << entry;
    for (const GraphChoices &choices : its)
      if (llvm::StringRef(entry) == "forward") {
        EXPECT_FALSE(choices.get(Choice::whole_step)) << choices.text();
      }
  }
  auto textOf = [](const GraphChoices &choices) { return choices.text(); };
  EXPECT_TRUE(llvm::is_contained(llvm::map_to_vector((*alternatives)["forward"], textOf), "norm_in_contract=0"));
}

TEST(graph_choices, a_way_that_gives_other_bits_is_refused) {
  const Target &target = *hostTarget();
  const LawModel &law = LawModel::of(lawGraph("causal_encoder"), target);
  std::unique_ptr<CompiledModel> one = compiled(law, target), other = compiled(law, target);
  Weights others = law.graph.randomWeights(LawModel::weightsSeed + 1); // stand for what computes something else
  ASSERT_FALSE(bool(other->openBytes(law.graph.fileOf(others))));
  std::atomic<bool> interrupted = false;
  GraphTrial trial({{one.get()}, {other.get()}}, interrupted);
  auto found = trial.findBest("forward", {0, 1});
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_EQ(found->way, 0u);
  EXPECT_NE(found->refused[1].find("other bits than the default's"), std::string::npos) << found->refused[1];
  EXPECT_EQ(found->refused[0], "");
}

TEST(graph_choices, a_trial_that_is_interrupted_chooses_nothing) {
  const Target &target = *hostTarget();
  const LawModel &law = LawModel::of(lawGraph("causal_encoder"), target);
  std::unique_ptr<CompiledModel> one = compiled(law, target);
  std::atomic<bool> interrupted = true;
  GraphTrial trial({{one.get()}, {one.get()}}, interrupted);
  auto ended = trial.findBest("step", {0, 1});
  ASSERT_FALSE(bool(ended));
  EXPECT_EQ(llvm::toString(ended.takeError()), "ended");
}

// A grain is a number of the plan: a record's is in the object, and a model gives the same bits whatever it is.
TEST(graph_choices, a_grain_is_the_plans_and_changes_no_bit) {
  const uint64_t seed = 98;
  const Target &target = *hostTarget();
  const LawModel &law = LawModel::of(lawGraph("causal_encoder"), target);
  TuningDatabase database("some-cpu");
  database.records[{grainRecordName.str(), target.name.str(), anyRows}].choices = {{Choice::worker_work, 25000},
                                                                                   {Choice::entry_work, 250000}};
  std::unique_ptr<CompiledModel> derived = compiled(law, target),
                                 chosen = compiled(law, target, {"", "", std::make_shared<TuningDatabase>(database)});
  EXPECT_EQ(derived->plan().worker_work, ParallelGrain().workerWork);
  EXPECT_EQ(derived->plan().entry_work, ParallelGrain().entryWork);
  EXPECT_EQ(chosen->plan().worker_work, 25000);
  EXPECT_EQ(chosen->plan().entry_work, 250000);
  ASSERT_FALSE(bool(chosen->openBytes(law.graph.fileOf(law.weights), 3)));
  Sequence sequence = law.graph.randomSequence({40}, seed);
  Outputs expected = forward(law.opened, sequence);
  for (const GraphChoices &choices : grainAlternatives()) {
    chosen->setGrain(grainOf(choices));
    auto got = chosen->forward({40}, {sequence.inputs[0].data()});
    ASSERT_TRUE(bool(got)) << llvm::toString(got.takeError());
    Case test{"causal_encoder", target.name.str(), "forward of 40 rows with " + choices.text(), seed};
    if (!expectSameBits(test, (*got)[0], expected[0], law.graph.signature().outputs[0].columns))
      return;
  }
}
