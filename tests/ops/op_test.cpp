#include "op_test.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

namespace burin::laws {

std::vector<float> flat(const Rows &rows) {
  std::vector<float> values;
  for (const std::vector<float> &row : rows)
    values.insert(values.end(), row.begin(), row.end());
  return values;
}

OpGraph::OpGraph(std::string op, Graph graph, Weights weights)
    : op_(std::move(op)), graph_(std::move(graph)), weights_(std::move(weights)) {
  Weights random = graph_.randomWeights(1);
  weights_.merge(random); // what the test does not care about
}

const std::vector<std::pair<const Target *, std::unique_ptr<OpenedModel>>> &OpGraph::models() {
  if (!models_.empty())
    return models_;
  for (const Target &target : allTargets())
    if (runsHere(target) && isFullyTested(target)) {
      compiled_.push_back(std::make_unique<CompiledGraph>(graph_, target));
      models_.emplace_back(&target, std::make_unique<OpenedModel>(*compiled_.back(), graph_, weights_));
    }
  return models_;
}

static int64_t columnsOf(const Rows &rows) { return rows.empty() ? 1 : int64_t(rows[0].size()); }

void OpGraph::expect(const std::vector<int64_t> &lengths, const std::vector<InputValues> &inputs,
                     const std::vector<Rows> &expected, double tolerance, Where where) {
  Sequence sequence{lengths, inputs};
  std::vector<HostTensor> reference = graph_.evaluate(weights_, sequence);
  ASSERT_EQ(reference.size(), expected.size());
  for (size_t output = 0; output < expected.size(); ++output) {
    std::vector<float> values(reference[output].values().begin(), reference[output].values().end());
    expectClose({op_, "the reference", "forward"}, values, flat(expected[output]), columnsOf(expected[output]),
                tolerance, where);
  }
  for (auto &[target, model] : models()) {
    Outputs got = forward(*model, sequence);
    for (size_t output = 0; output < expected.size(); ++output)
      expectClose({op_, target->name.str(), "forward"}, got[output], flat(expected[output]),
                  columnsOf(expected[output]), tolerance, where);
  }
}

void OpGraph::expectSteps(int64_t samples, const std::vector<InputValues> &inputs, const std::vector<Rows> &expected,
                          double tolerance, Where where) {
  Sequence sequence{{samples}, inputs};
  for (auto &[target, model] : models()) {
    Stream stream(*model, samples);
    std::vector<std::vector<float>> got(expected.size());
    for (int64_t row = 0; row < samples; ++row)
      for (auto [all, one] : llvm::zip_equal(got, stream.step(sequence, row)))
        all.insert(all.end(), one.begin(), one.end());
    for (size_t output = 0; output < expected.size(); ++output)
      expectClose({op_, target->name.str(), "step"}, got[output], flat(expected[output]), columnsOf(expected[output]),
                  tolerance, where);
    require("reset", stream.reset());
    Outputs inOne = stream.advance(sequence, 0, samples);
    for (size_t output = 0; output < expected.size(); ++output)
      expectClose({op_, target->name.str(), "advance"}, inOne[output], flat(expected[output]),
                  columnsOf(expected[output]), tolerance, where);
  }
}

void OpGraph::expectReference(const std::vector<int64_t> &lengths, uint64_t seed, Where where) {
  Sequence sequence = graph_.randomSequence(lengths, seed);
  std::vector<HostTensor> expected = graph_.evaluate(weights_, sequence);
  for (auto &[target, model] : models()) {
    Outputs got = forward(*model, sequence);
    for (size_t output = 0; output < expected.size(); ++output)
      expectClose({op_, target->name.str(), "forward", seed}, got[output], expected[output].values(),
                  signature().outputs[output].columns, 1e-5, where);
  }
}

// What bodies of errorsOf may use: rows of 3 and 4 features along two times, one row per sequence, one row of a step,
// parameters of some shapes, a mask, positions, state, ids.
static const char prologue[] = R"(
#time = #encoder.rows<"time", 6>
#other = #encoder.rows<"other", 7>
#pairs = #encoder.pairs<"time", 6, "other", 7>
!x3 = tensor<?x3xf32, #time>
!x4 = tensor<?x4xf32, #time>
!other3 = tensor<?x3xf32, #other>
!each = tensor<?x3xf32, #encoder.per_sequence>
!row = tensor<1x3xf32>
!mask = tensor<?x?xui8, #pairs>
!positions = tensor<?x1xi64, #time>
!position = tensor<1x1xi64>
!cache3 = tensor<6x3xf32, #encoder.cache<0, 6>>
!cache4 = tensor<6x4xf32, #encoder.cache<0, 6>>
!ring3 = tensor<6x3xf32, #encoder.cache<0, 6, 4>>
!sum = tensor<3xf64>
!signal = tensor<?x1xf32, #time>
!ids = tensor<?x1xi32, #time>
!pairs_of_ids = tensor<?x2xi32, #time>
func.func @forward(%x3: !x3, %x4: !x4, %other3: !other3, %each: !each, %row: !row, %mask: !mask, %positions: !positions,
                   %position: !position, %cache3: !cache3, %cache4: !cache4, %ring3: !ring3, %sum: !sum, %signal: !signal,
                   %w3: tensor<3xf32>,
                   %w4: tensor<4xf32>, %w3x4: tensor<3x4xf32>, %w4x3: tensor<4x3xf32>, %w5x3: tensor<5x3xf32>,
                   %ids: !ids, %pairs_of_ids: !pairs_of_ids) {
)";

std::string errorsOf(llvm::StringRef body) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<EncoderDialect, mlir::func::FuncDialect>();
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += (errors.empty() ? "" : "\n") + diagnostic.str();
    return mlir::success();
  });
  std::string text = prologue + body.str() + "\nreturn\n}\n";
  mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  return errors;
}

} // namespace burin::laws
