#include "tuner/proof.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/evaluate_graph.h"
#include "tools/bench_inputs.h"
#include "tools/comparison.h"
#include "tools/compiled_model.h"
#include "tools/failure.h"
#include "tools/initial_values.h"
#include "llvm/ADT/STLExtras.h"

namespace burin {

namespace {

constexpr int64_t referenceRows = 6; // slow loops in double: enough for a tile and its tail
constexpr int64_t streamRows = 40;   // more than a tile of keys

class Proof {
public:
  Proof(CompiledModel &tuned, CompiledModel &derived, const LoadedGraph &graph, const GraphSignature &signature)
      : tuned_(tuned), derived_(derived), graph_(graph), signature_(signature) {}

  llvm::Error run() {
    int64_t most = 1;
    for (const Axis &axis : signature_.axes)
      most = std::max(most, axis.maximum);
    for (int64_t rows : {int64_t(1), int64_t(2), int64_t(5), int64_t(13), int64_t(64), most / 2 + 1, most})
      if (llvm::Error error = compareForward(rows))
        return error;
    if (llvm::Error error = compareWithReference())
      return error;
    for (int stream = 0; stream < int(tuned_.streams().size()); ++stream)
      if (llvm::Error error = compareStream(stream))
        return error;
    return llvm::Error::success();
  }

private:
  std::vector<int64_t> rowsUpTo(int64_t most) const {
    std::vector<int64_t> rows;
    for (const Axis &axis : signature_.axes)
      rows.push_back(std::min(most, axis.maximum));
    return rows;
  }

  static llvm::Error differs(const std::string &what, const Comparison &comparison) {
    std::string at;
    for (int64_t place : comparison.at)
      at += (at.empty() ? "" : ",") + std::to_string(place);
    return failure(what + " at [" + at + "]: expected " + std::to_string(comparison.expected) + ", got " +
                   std::to_string(comparison.got));
  }

  llvm::Error compareOutputs(const std::string &what, const CompiledModel::Outputs &got,
                             const CompiledModel::Outputs &expected) {
    for (auto [one, other] : llvm::zip_equal(got, expected))
      if (Comparison comparison = compareBits(one, other, {int64_t(one.size())}); !comparison.ok)
        return differs("with the database, other bits in " + what, comparison);
    return llvm::Error::success();
  }

  llvm::Error compareForward(int64_t length) {
    std::vector<int64_t> rows = rowsUpTo(length);
    InputValues values = benchInputs(*tuned_.plan().forward, rows);
    std::vector<const void *> inputs = values.of(*tuned_.plan().forward);
    auto got = tuned_.forward(rows, inputs);
    if (!got)
      return got.takeError();
    auto expected = derived_.forward(rows, inputs);
    if (!expected)
      return expected.takeError();
    return compareOutputs("forward of " + std::to_string(length) + " rows", *got, *expected);
  }

  llvm::Error compareWithReference() {
    std::vector<int64_t> rows = rowsUpTo(referenceRows);
    const burin_plan_entry &entry = *tuned_.plan().forward;
    InputValues values = benchInputs(entry, rows);
    std::vector<const void *> inputs = values.of(entry);
    ReferenceInputs given;
    for (auto [axis, count] : llvm::zip_equal(signature_.axes, rows))
      given.rows[axis.name] = count;
    for (const GraphParameter &parameter : signature_.parameters) {
      auto initial = initialValues(parameter, 0);
      if (!initial)
        return initial.takeError();
      HostTensor tensor(parameter.shape);
      llvm::copy(*initial, tensor.values().begin());
      given.parameters[parameter.name] = std::move(tensor);
    }
    for (int32_t i = 0; i < entry.input_count; ++i) {
      const burin_plan_tensor &input = entry.inputs[i];
      int64_t columns = input.column_axis >= 0 ? rows[input.column_axis] : input.columns;
      HostTensor tensor({rows[input.row_axis] * input.rows_each, columns});
      for (int64_t n = 0; n < tensor.size(); ++n)
        tensor(n) = input.type == BURIN_U8    ? static_cast<const uint8_t *>(inputs[i])[n]
                    : input.type == BURIN_I32 ? static_cast<const int32_t *>(inputs[i])[n]
                                              : static_cast<const float *>(inputs[i])[n];
      given.inputs[input.name] = std::move(tensor);
    }
    auto expected = evaluateGraph(graph_.module().lookupSymbol<mlir::func::FuncOp>("forward"), given);
    if (!expected)
      return expected.takeError();
    auto got = tuned_.forward(rows, inputs);
    if (!got)
      return got.takeError();
    for (auto [one, reference] : llvm::zip_equal(*got, *expected))
      if (Comparison comparison = compare(one, reference.values(), reference.shape(),
                                          tolerancesOf(narrowestPrecision(graph_.module())).own);
          !comparison.ok)
        return differs("with the database, forward of " + std::to_string(referenceRows) +
                           " rows is not near the reference",
                       comparison);
    return llvm::Error::success();
  }

  llvm::Error compareStream(int number) {
    const burin_plan_stream &stream = tuned_.streams()[number];
    int64_t count = std::min(streamRows, tuned_.plan().axes[stream.axis].maximum);
    for (int64_t bound : {stream.capacity, stream.position_end})
      count = bound >= 0 ? std::min(count, bound) : count;
    std::vector<int64_t> rows = rowsUpTo(count);
    InputValues values = benchInputs(*tuned_.plan().forward, rows);
    for (CompiledModel *model : {&tuned_, &derived_}) {
      if (llvm::Error error = model->reset())
        return error;
      for (int context = 1; number == 0 && context < int(model->streams().size()); ++context) {
        const burin_plan_stream &filled = model->streams()[context];
        if (auto done = model->advance(context, rows[filled.axis], values.of(*filled.one)); !done)
          return done.takeError();
      }
    }
    // Two thirds at once, the rest one by one.
    for (int64_t row = 0; row < count;) {
      int64_t taken = row == 0 ? std::max<int64_t>(count * 2 / 3, 1) : 1;
      std::vector<const void *> inputs = values.of(*stream.one, row);
      auto got = tuned_.advance(number, taken, inputs);
      if (!got)
        return got.takeError();
      auto expected = derived_.advance(number, taken, inputs);
      if (!expected)
        return expected.takeError();
      if (llvm::Error error = compareOutputs(
              "stream '" + std::string(stream.name) + "' after " + std::to_string(row) + " rows", *got, *expected))
        return error;
      row += taken;
    }
    return llvm::Error::success();
  }

  CompiledModel &tuned_, &derived_;
  const LoadedGraph &graph_;
  const GraphSignature &signature_;
};

llvm::Expected<LoadedGraph> load(const GraphSource &source, const ProofOptions &options) {
  llvm::Expected<LoadedGraph> graph = source.load();
  if (graph && options.precision)
    setPrecision(graph->module(), *options.precision);
  return graph;
}

llvm::Expected<std::unique_ptr<CompiledModel>> compiledWith(const std::string &database, int threads,
                                                            const GraphSource &source, const ProofOptions &options,
                                                            llvm::StringRef weights, Progress &progress) {
  llvm::Expected<LoadedGraph> graph = load(source, options);
  if (!graph)
    return graph.takeError();
  auto model = CompiledModel::compile(graph->module(), options.target, options.jobs, progress, {"", database});
  if (!model)
    return model.takeError();
  if (llvm::Error error = (*model)->openBytes(weights, threads))
    return error;
  return model;
}

} // namespace

llvm::Error proveTuned(const GraphSource &source, const ProofOptions &options, Progress &progress) {
  llvm::Expected<LoadedGraph> graph = load(source, options);
  if (!graph)
    return graph.takeError();
  GraphSignature signature = signatureOf(graph->module());
  llvm::Expected<SafetensorsWriter> weights = initialWeights(signature, 0, progress);
  if (!weights)
    return weights.takeError();
  std::string bytes = weights->bytes();
  auto tuned = compiledWith(options.database, options.threads, source, options, bytes, progress);
  if (!tuned)
    return tuned.takeError();
  auto derived = compiledWith("none", 1, source, options, bytes, progress);
  if (!derived)
    return derived.takeError();
  return Proof(**tuned, **derived, *graph, signature).run();
}

} // namespace burin
