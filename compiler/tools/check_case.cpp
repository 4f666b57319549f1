#include "tools/check_case.h"
#include "tools/case_reference.h"
#include "tools/check_streams.h"
#include "tools/failure.h"
#include "llvm/ADT/STLExtras.h"

namespace burin {

namespace {

class CaseChecker {
public:
  CaseChecker(CaseRun &run, mlir::ModuleOp reference, llvm::StringRef weights)
      : run_(run), case_(run.given), signature_(run.signature), graph_(reference), reference_(case_, signature_),
        weights_(weights) {}

  llvm::Error run() {
    if (llvm::Error error = openModel())
      return error;
    if (llvm::Error error = checkForward())
      return error;
    if (case_.isBatch())
      if (llvm::Error error = checkBatch())
        return error;
    return checkStreams(run_);
  }

private:
  std::vector<int64_t> shapeOf(const EntryTensor &output) const {
    int64_t rowCount = case_.sequences() * output.rowsEach;
    for (auto [axis, offsets] : llvm::zip_equal(signature_.axes, case_.offsets()))
      if (axis.name == output.rows)
        rowCount = offsets.back();
    return {rowCount, output.columns};
  }

  llvm::Error openModel() {
    if (!weights_.empty())
      return run_.model.openFile(weights_, /*allowExtraTensors=*/true);
    SafetensorsWriter weights;
    for (const GraphParameter &parameter : signature_.parameters)
      weights.add(parameter.name, ElementType::F32, parameter.shape, case_.parameter(parameter.name).bytes.data());
    return run_.model.openBytes(weights.bytes());
  }

  /// forward on each sequence alone, with the file and with the reference; the reference with the file.
  llvm::Error checkForward() {
    size_t outputs = signature_.outputs.size();
    alone_.assign(outputs, {});
    std::vector<std::vector<double>> reference(outputs);
    for (int64_t sequence = 0; sequence < case_.sequences(); ++sequence) {
      run_.progress.update(case_.name() + ": forward", sequence, case_.sequences());
      llvm::Expected<CompiledModel::Outputs> got = run_.forward(sequence, run_.lengthsOf(sequence));
      if (!got)
        return got.takeError();
      llvm::Expected<llvm::SmallVector<HostTensor>> expected = reference_.evaluate(graph_, sequence);
      if (!expected)
        return expected.takeError();
      for (size_t output = 0; output < outputs; ++output) {
        llvm::append_range(alone_[output], (*got)[output]);
        const std::string &name = signature_.outputs[output].name;
        if (const StoredTensor *values = case_.expected(name, sequence))
          run_.addOutside((*got)[output], *values, "forward '" + name + "' of sequence " + std::to_string(sequence));
        llvm::append_range(reference[output], (*expected)[output].values());
      }
    }
    for (auto [output, tensor] : llvm::enumerate(signature_.outputs)) {
      std::string suffix = run_.suffixOf(tensor);
      run_.addExpected(alone_[output], tensor.name, "forward" + suffix);
      run_.add(compare(alone_[output], reference[output], shapeOf(tensor), run_.tolerances.own),
               "forward" + suffix + " against the reference");
      run_.addExpected(Values(reference[output].begin(), reference[output].end()), tensor.name, "reference" + suffix);
    }
    return llvm::Error::success();
  }

  /// All sequences at once give what each gives alone, bit for bit.
  llvm::Error checkBatch() {
    llvm::Expected<CompiledModel::Outputs> batch =
        run_.model.forwardBatch(case_.offsets(), run_.inputs.of(*run_.model.plan().forward));
    if (!batch)
      return batch.takeError();
    for (auto [output, tensor] : llvm::enumerate(signature_.outputs)) {
      run_.addExpected((*batch)[output], tensor.name, "forward_batch");
      run_.add(compareBits((*batch)[output], alone_[output], shapeOf(tensor)), "forward_batch against forward alone");
    }
    return llvm::Error::success();
  }

  CaseRun &run_;
  const GoldenCase &case_;
  const GraphSignature &signature_;
  mlir::ModuleOp graph_;
  CaseReference reference_;
  llvm::StringRef weights_;
  std::vector<Values> alone_; // by output: forward on each sequence, one after another
};

} // namespace

llvm::Error checkCase(llvm::StringRef path, llvm::StringRef weights, const CheckedTarget &target,
                      std::optional<Precision> precision, unsigned jobs, ComparisonReport &report, Progress &progress) {
  llvm::Expected<GoldenCase> given = GoldenCase::read(path);
  if (!given)
    return given.takeError();
  SafetensorsFile weightsFile;
  if (!weights.empty()) {
    llvm::Expected<SafetensorsFile> file = SafetensorsFile::read(weights);
    if (!file)
      return file.takeError();
    weightsFile = std::move(*file);
    given->useWeights(weightsFile);
  }
  llvm::Expected<LoadedGraph> graph = given->buildGraph();
  if (!graph)
    return graph.takeError();
  GraphSignature signature = signatureOf(graph->module());
  if (llvm::Error error = given->fit(signature))
    return error;

  if (precision)
    setPrecision(graph->module(), *precision);
  Precision narrowest = narrowestPrecision(graph->module());
  mlir::OwningOpRef<mlir::ModuleOp> reference(graph->module().clone()); // compiling takes the graph apart
  progress.update(given->name() + ": compiling");
  auto named = [&](llvm::Error error) {
    return error ? failure(path + ": " + llvm::toString(std::move(error))) : std::move(error);
  };
  auto model = CompiledModel::compile(graph->module(), target.compiledFor, jobs, progress);
  if (!model)
    return named(model.takeError());
  try {
    for (const Target *each : target.run) {
      (*model)->choose(each->name);
      CaseRun run(*given, signature, **model, each->name, narrowest, report, progress);
      if (llvm::Error error = CaseChecker(run, *reference, weights).run())
        return named(std::move(error));
    }
  } catch (const MachineError &error) { // of this case: the others have a process of their own
    return named(failure(error.what()));
  }
  return llvm::Error::success();
}

} // namespace burin
