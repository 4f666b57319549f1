// A record of the tuning database changes no bit and touches nothing outside the caller's buffers: whatever parameters
// it holds, for whatever numbers of rows. Every kernel of a graph is given a different record for each bucket, so that
// every variant and the choice among them is run.
#include "emit/tuned_schedules.h"
#include "law_graphs.h"
#include "schedules/tuner/row_buckets.h"

using namespace burin;
using namespace burin::laws;

namespace {

/// A value for every parameter, by a number.
ScheduleParameters parametersOf(uint32_t number) {
  ScheduleParameters parameters;
  for (const ParameterRow &row : allParameters()) {
    number = number * 1664525u + 1013904223u;
    if (row.parameter != Parameter::panel_vectors) // a weight's
      parameters.set(row.parameter, row.values[(number >> 16) % row.values.size()]);
  }
  return parameters;
}

/// Records of all kernels and buckets, and of all sizes of weights.
TuningDatabase databaseFor(const DeclaredGraph &graph, const Target &target, uint32_t seed) {
  mlir::OwningOpRef<mlir::ModuleOp> module = graph.module();
  if (llvm::Error error = runPasses(*module, target))
    throw std::runtime_error(llvm::toString(std::move(error)));
  TuningDatabase database("some-cpu");
  for (const KernelText &kernel : kernelsOf(*module))
    for (int bucket = 0; bucket < rowBuckets; ++bucket)
      database.records[{recordName(kernel), target.name.str(), bucket}] = {parametersOf(seed++), 1e-6, 2e-6, "", ""};
  return database;
}

/// What forward gives, on memory that ends where pages begin that may not be touched; none where it touches them.
std::optional<Outputs> forwardInside(const Case &test, const OpenedModel &model, const Sequence &sequence,
                                     Placement placement) {
  ForwardCall call(model, sequence, placement);
  burin_status status = BURIN_OK;
  if (std::string fault = faultIn([&] { status = call.run(); }, call.buffers()); !fault.empty())
    fail(test, "touched " + fault);
  else if (status != BURIN_OK)
    fail(test, burin_status_text(status));
  else
    return call.results().front();
  return std::nullopt;
}

} // namespace

TEST(same_bits_of_schedules, whatever_a_record_says) {
  const uint64_t seed = 95;
  const std::pair<const char *, std::vector<uint32_t>> graphs[] = {
      {"causal_encoder", {1, 1000}}, {"encoder", {1}}, {"masked_attention", {1000}}};
  for (const auto &[name, recordsOfGraph] : graphs)
    for (const Target &target : allTargets()) {
      if (!whyNotTested(target).empty() || !hasOwnSchedules(target))
        continue;
      const LawGraph &law = lawGraph(name);
      const LawModel &model = LawModel::of(law, target);
      for (uint32_t records : recordsOfGraph) {
        TemporaryFolder folder;
        std::string file = folder.path() + "/tuned.json";
        ASSERT_FALSE(bool(databaseFor(model.graph, target, records).write(file)));
        CompiledGraph compiled(model.graph, target.name, {"", file});
        OpenedModel tuned(compiled, model.graph, model.weights);
        for (int64_t rows : {1, 2, 3, 5, 13, 16, 17, 40, 64}) {
          Sequence sequence =
              model.graph.randomSequence(std::vector<int64_t>(model.graph.signature().axes.size(), rows), seed);
          Outputs expected = forward(model.opened, sequence);
          Case test{law.name, target.name.str(),
                    "forward of " + std::to_string(rows) + " rows with records " + std::to_string(records), seed};
          for (Placement placement : {Placement::beforeGuard, Placement::afterGuard}) {
            std::optional<Outputs> got =
                isInThisProcess(target) ? forwardInside(test, tuned, sequence, placement) : forward(tuned, sequence);
            for (size_t output = 0; output < expected.size(); ++output)
              if (!got || !expectSameBits(test, (*got)[output], expected[output],
                                          model.graph.signature().outputs[output].columns))
                return;
          }
        }
        if (!tuned.hasStep())
          continue;
        Sequence sequence =
            model.graph.randomSequence(std::vector<int64_t>(model.graph.signature().axes.size(), 37), seed);
        Stream stream(tuned), expectedStream(model.opened);
        for (int64_t row = 0; row < 37; ++row) {
          Outputs got = stream.step(sequence, row), expected = expectedStream.step(sequence, row);
          Case test{law.name, target.name.str(), "step " + std::to_string(row + 1) + " with records", seed};
          if (!expectSameBits(test, got[0], expected[0], int64_t(got[0].size())))
            return;
        }
      }
    }
}

// A weight's panels are the same for all kernels that read it, and change no bit either.
TEST(same_bits_of_schedules, whatever_the_width_of_panels) {
  const uint64_t seed = 96;
  const LawGraph &law = lawGraph("causal_encoder");
  for (const Target &target : allTargets()) {
    if (!whyNotTested(target).empty() || !hasOwnSchedules(target))
      continue;
    const LawModel &model = LawModel::of(law, target);
    for (int vectors : {1, 2, 4}) {
      TuningDatabase database("some-cpu");
      for (const GraphParameter &parameter : model.graph.signature().parameters)
        if (parameter.shape.size() == 2)
          database.records[{"weight_" + std::to_string(parameter.shape[0]) + "x" + std::to_string(parameter.shape[1]),
                            target.name.str(), 0}] = {{{Parameter::panel_vectors, vectors}}, 1e-6, 2e-6, "", ""};
      TemporaryFolder folder;
      std::string file = folder.path() + "/tuned.json";
      ASSERT_FALSE(bool(database.write(file)));
      CompiledGraph compiled(model.graph, target.name, {"", file});
      OpenedModel tuned(compiled, model.graph, model.weights);
      for (int64_t rows : {1, 5, 40}) {
        Sequence sequence = model.graph.randomSequence({rows}, seed);
        Outputs expected = forward(model.opened, sequence), got = forward(tuned, sequence);
        Case test{law.name, target.name.str(),
                  "forward of " + std::to_string(rows) + " rows, panels of " + std::to_string(vectors) + " vectors",
                  seed};
        if (!expectSameBits(test, got[0], expected[0], model.graph.signature().outputs[0].columns))
          return;
      }
    }
  }
}
