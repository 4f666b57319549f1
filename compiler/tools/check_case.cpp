#include "tools/check_case.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/evaluate_graph.h"
#include "tools/compiled_model.h"
#include "tools/failure.h"
#include "llvm/ADT/STLExtras.h"

namespace burin {

namespace {

/// The case's inputs, and views of them for a part of its rows.
class CaseInputs {
public:
  CaseInputs(const GoldenCase &given, const GraphSignature &signature) : signature_(signature) {
    for (const EntryTensor &tensor : signature.inputs) {
      const StoredTensor &stored = given.input(tensor.name);
      aligned_.push_back(stored.copy<char>());
      doubles_.push_back(stored.toDoubles());
    }
  }

  /// Pointers as the runtime takes them, from row `first` on. Only graphs with one symbol start elsewhere than at 0.
  std::vector<const void *> from(int64_t first) const {
    std::vector<const void *> pointers;
    for (auto [tensor, bytes] : llvm::zip_equal(signature_.inputs, aligned_))
      pointers.push_back(bytes.data() + first * tensor.columns * bytesOf(tensor.type));
    return pointers;
  }

  /// Input `index` as the reference takes it: rows [first, first + rows).
  HostTensor slice(size_t index, int64_t first, int64_t rows, int64_t columns) const {
    HostTensor tensor({rows, columns});
    auto begin = doubles_[index].begin() + first * columns;
    std::copy(begin, begin + rows * columns, tensor.values().begin());
    return tensor;
  }

private:
  const GraphSignature &signature_;
  std::vector<std::vector<char>> aligned_; // of the allocator, hence aligned for every element type
  std::vector<std::vector<double>> doubles_;
};

class CaseChecker {
public:
  CaseChecker(const GoldenCase &given, const GraphSignature &signature, mlir::ModuleOp reference, CompiledModel &model,
              llvm::StringRef weights, llvm::StringRef target, ComparisonReport &report, Progress &progress)
      : case_(given), signature_(signature), reference_(reference), model_(model), weights_(weights), target_(target),
        report_(report), progress_(progress), inputs_(given, signature) {
    for (const Axis &axis : signature.axes)
      planAxes_.push_back(model.axisNamed(axis.name));
  }

  llvm::Error run() {
    if (llvm::Error error = openModel())
      return error;
    if (llvm::Error error = checkForward())
      return error;
    if (case_.isBatch())
      if (llvm::Error error = checkBatch())
        return error;
    bool streams = signature_.axes.size() == 1 && signature_.outputs.size() == 1;
    if (streams && (case_.expected("prefixes") || model_.hasStep()))
      if (llvm::Error error = checkPrefixes())
        return error;
    if (model_.hasStep())
      return checkSteps();
    for (const char *name : {"steps", "k_cache", "v_cache"})
      if (case_.expected(name))
        return failure(llvm::Twine("'out.") + name + "' is given, but the graph has no step: " + model_.noStepReason());
    return llvm::Error::success();
  }

private:
  /// A tensor that is put together row by row or sequence by sequence.
  using Values = std::vector<float>;

  static void append(Values &all, const Values &part) { all.insert(all.end(), part.begin(), part.end()); }

  void add(Comparison comparison, llvm::StringRef what) {
    comparison.caseName = case_.name();
    comparison.what = what.str();
    comparison.target = target_.str();
    progress_.clear();
    report_.add(comparison);
  }

  /// Compares with `out.<name>` when the case has it; its shape is the tensor's.
  void addExpected(const Values &got, llvm::StringRef name, llvm::StringRef what) {
    if (const StoredTensor *expected = case_.expected(name))
      add(compare(got, expected->toDoubles(), expected->shape), what);
  }

  int64_t first(int64_t sequence, size_t axis) const { return case_.offsets()[axis][sequence]; }
  int64_t rows(int64_t sequence, size_t axis) const { return first(sequence + 1, axis) - first(sequence, axis); }

  std::vector<int64_t> shapeOf(const EntryTensor &output) const {
    int64_t rowCount = case_.sequences();
    for (auto [axis, offsets] : llvm::zip_equal(signature_.axes, case_.offsets()))
      if (axis.name == output.rows)
        rowCount = offsets.back();
    return {rowCount, output.columns};
  }

  /// `forward` on the first rows of one sequence; `lengths` by the signature's axes.
  llvm::Expected<CompiledModel::Outputs> forward(int64_t sequence, llvm::ArrayRef<int64_t> lengths) {
    std::vector<int64_t> planRows(lengths.size());
    for (auto [axis, length] : llvm::zip_equal(planAxes_, lengths))
      planRows[axis] = length;
    return model_.forward(planRows, inputs_.from(lengths.empty() ? 0 : first(sequence, 0)));
  }

  llvm::Error openModel() {
    for (const Parameter &parameter : signature_.parameters) {
      HostTensor value(parameter.shape);
      value.values() = case_.parameter(parameter.name).toDoubles();
      parameters_[parameter.name] = std::move(value);
    }
    if (!weights_.empty())
      return model_.openFile(weights_, /*allowExtraTensors=*/true);
    SafetensorsWriter weights;
    for (const Parameter &parameter : signature_.parameters)
      weights.add(parameter.name, ElementType::F32, parameter.shape, case_.parameter(parameter.name).bytes.data());
    return model_.openBytes(weights.bytes());
  }

  /// forward on each sequence alone, with the file and with the reference; the reference with the file.
  llvm::Error checkForward() {
    size_t outputs = signature_.outputs.size();
    alone_.assign(outputs, {});
    std::vector<std::vector<double>> reference(outputs);
    for (int64_t sequence = 0; sequence < case_.sequences(); ++sequence) {
      progress_.update(case_.name() + ": forward", sequence, case_.sequences());
      std::vector<int64_t> lengths;
      for (size_t axis = 0; axis < signature_.axes.size(); ++axis)
        lengths.push_back(rows(sequence, axis));
      llvm::Expected<CompiledModel::Outputs> got = forward(sequence, lengths);
      if (!got)
        return got.takeError();
      llvm::Expected<llvm::SmallVector<HostTensor>> expected = evaluateReference(sequence, lengths);
      if (!expected)
        return expected.takeError();
      for (size_t output = 0; output < outputs; ++output) {
        append(alone_[output], (*got)[output]);
        const std::string &name = signature_.outputs[output].name;
        if (const StoredTensor *values = case_.expected(name, sequence))
          add(compare((*got)[output], values->toDoubles(), values->shape),
              "forward '" + name + "' of sequence " + std::to_string(sequence));
        llvm::append_range(reference[output], (*expected)[output].values());
      }
    }
    for (auto [output, tensor] : llvm::enumerate(signature_.outputs)) {
      std::string suffix = outputs == 1 ? "" : " '" + tensor.name + "'";
      addExpected(alone_[output], tensor.name, "forward" + suffix);
      add(compare(alone_[output], reference[output], shapeOf(tensor)), "forward" + suffix + " against the reference");
      addExpected(Values(reference[output].begin(), reference[output].end()), tensor.name, "reference" + suffix);
    }
    return llvm::Error::success();
  }

  llvm::Expected<llvm::SmallVector<HostTensor>> evaluateReference(int64_t sequence, llvm::ArrayRef<int64_t> lengths) {
    ReferenceInputs given;
    for (auto [axis, length] : llvm::zip_equal(signature_.axes, lengths))
      given.rows[axis.name] = length;
    for (auto [index, tensor] : llvm::enumerate(signature_.inputs)) {
      int64_t columns = tensor.columnsBy.empty() ? tensor.columns : given.rows[tensor.columnsBy];
      given.inputs[tensor.name] = inputs_.slice(index, first(sequence, 0), given.rows[tensor.rows], columns);
    }
    given.parameters = parameters_;
    return evaluateGraph(reference_.lookupSymbol<mlir::func::FuncOp>("forward"), given);
  }

  /// All sequences at once give what each gives alone, bit for bit.
  llvm::Error checkBatch() {
    llvm::Expected<CompiledModel::Outputs> batch = model_.forwardBatch(case_.offsets(), inputs_.from(0));
    if (!batch)
      return batch.takeError();
    for (auto [output, tensor] : llvm::enumerate(signature_.outputs)) {
      addExpected((*batch)[output], tensor.name, "forward_batch");
      add(compareBits((*batch)[output], alone_[output], shapeOf(tensor)), "forward_batch against forward alone");
    }
    return llvm::Error::success();
  }

  /// Row n of the result is the last row that forward gives on the first n + 1 samples of a sequence.
  llvm::Error checkPrefixes() {
    int64_t columns = signature_.outputs[0].columns;
    for (int64_t sequence = 0; sequence < case_.sequences(); ++sequence)
      for (int64_t length = 1; length <= rows(sequence, 0); ++length) {
        progress_.update(case_.name() + ": forward on prefixes", first(sequence, 0) + length,
                         case_.offsets()[0].back());
        llvm::Expected<CompiledModel::Outputs> got = forward(sequence, length);
        if (!got)
          return got.takeError();
        prefixes_.insert(prefixes_.end(), (*got)[0].end() - columns, (*got)[0].end());
      }
    addExpected(prefixes_, "prefixes", "forward on prefixes");
    return llvm::Error::success();
  }

  /// step on every sample of every sequence, and what the state holds afterwards.
  llvm::Error checkSteps() {
    Values steps;
    for (int64_t sequence = 0; sequence < case_.sequences(); ++sequence) {
      if (llvm::Error error = model_.reset())
        return error;
      for (int64_t row = first(sequence, 0); row < first(sequence + 1, 0); ++row) {
        progress_.update(case_.name() + ": step", row, case_.offsets()[0].back());
        llvm::Expected<CompiledModel::Outputs> got = model_.step(inputs_.from(row));
        if (!got)
          return got.takeError();
        append(steps, (*got)[0]);
      }
    }
    addExpected(steps, "steps", "step");
    addExpected(steps, "prefixes", "step against prefixes");
    if (!prefixes_.empty())
      add(compare(steps, prefixes_, {case_.offsets()[0].back(), signature_.outputs[0].columns}),
          "step against forward");
    for (llvm::StringRef name : {"k_cache", "v_cache"})
      if (const StoredTensor *expected = case_.expected(name))
        if (llvm::Error error = checkCache(name, *expected))
          return error;
    return llvm::Error::success();
  }

  llvm::Error checkCache(llvm::StringRef name, const StoredTensor &expected) {
    std::vector<const burin_plan_state_value *> found; // in any scope
    for (int index = 0; index < model_.plan().state_value_count; ++index) {
      const burin_plan_state_value &value = model_.plan().state_values[index];
      if (value.name == name || llvm::StringRef(value.name).ends_with(("." + name).str()))
        found.push_back(&value);
    }
    if (found.size() != 1)
      return failure("'out." + name + "' is given, but " + llvm::Twine(found.size()) +
                     " state values have that name, expected 1");
    llvm::Expected<Values> got = model_.stateRead(found[0]->name);
    if (!got)
      return got.takeError();
    std::vector<int64_t> shape{int64_t(got->size()) / found[0]->features, found[0]->features};
    if (expected.shape != shape)
      return failure("'out." + name + "' is " + describe(expected.type, expected.shape) + ", the state holds " +
                     describe(ElementType::F32, shape));
    addExpected(*got, name, name);
    return llvm::Error::success();
  }

  const GoldenCase &case_;
  const GraphSignature &signature_;
  mlir::ModuleOp reference_;
  CompiledModel &model_;
  llvm::StringRef weights_, target_;
  ComparisonReport &report_;
  Progress &progress_;
  CaseInputs inputs_;
  std::vector<int> planAxes_; // index in the plan of each axis of the signature
  llvm::StringMap<HostTensor> parameters_;
  std::vector<Values> alone_; // by output: forward on each sequence, one after another
  Values prefixes_;
};

} // namespace

llvm::Error checkCase(llvm::StringRef path, llvm::StringRef weights, llvm::StringRef target, unsigned jobs,
                      ComparisonReport &report, Progress &progress) {
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

  mlir::OwningOpRef<mlir::ModuleOp> reference(graph->module().clone()); // compiling takes the graph apart
  progress.update(given->name() + ": compiling");
  auto named = [&](llvm::Error error) {
    return error ? failure(path + ": " + llvm::toString(std::move(error))) : std::move(error);
  };
  auto model = CompiledModel::compile(graph->module(), target, jobs, progress);
  if (!model)
    return named(model.takeError());
  return named(CaseChecker(*given, signature, *reference, **model, weights, target, report, progress).run());
}

} // namespace burin
