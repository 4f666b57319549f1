#include "tools/check_streams.h"
#include "tools/failure.h"
#include "llvm/ADT/STLExtras.h"

namespace burin {

namespace {

using Outputs = CompiledModel::Outputs;

constexpr int64_t oddChunks[] = {1, 2, 5, INT64_MAX}; // samples at once, one after another

class StreamChecker {
public:
  explicit StreamChecker(CaseRun &run) : run_(run), model_(run.model), signature_(run.signature) {}

  llvm::Error run() {
    if (model_.hasStep())
      axis_ = axisOf(0);
    else if (const Axis *axis = signature_.streamAxis())
      axis_ = size_t(axis - signature_.axes.data());
    if (model_.hasStep() || run_.given.expected("prefixes"))
      if (llvm::Error error = checkPrefixes())
        return error;
    if (!model_.hasStep()) {
      for (const char *name : {"steps", "k_cache", "v_cache"})
        if (run_.given.expected(name))
          return failure(llvm::Twine("'out.") + name +
                         "' is given, but the graph has no step: " + model_.noStepReason());
      return llvm::Error::success();
    }
    for (auto check : {&StreamChecker::checkSteps, &StreamChecker::checkSaved, &StreamChecker::checkAdvance,
                       &StreamChecker::checkContextSteps, &StreamChecker::checkAppend})
      if (llvm::Error error = (this->*check)())
        return error;
    return llvm::Error::success();
  }

private:
  // ---- Rows of a case's sequence in the order of its streams

  int64_t firstRow(int64_t sequence, int stream) const { return run_.first(sequence, axisOf(stream)); }
  int64_t rows(int64_t sequence, int stream) const { return run_.rows(sequence, axisOf(stream)); }

  size_t axisOf(int stream) const {
    for (auto [index, axis] : llvm::enumerate(signature_.axes))
      if (axis.name == model_.streams()[stream].name)
        return index;
    llvm_unreachable("a stream is a time symbol of the graph");
  }

  /// `count` rows of a stream from row `first` of the sequence on; its outputs are added to `all`.
  llvm::Error take(int64_t sequence, int stream, int64_t first, int64_t count, Outputs &all) {
    auto inputs = run_.inputs.of(*model_.streams()[stream].one, firstRow(sequence, stream) + first);
    llvm::Expected<Outputs> got = model_.advance(stream, count, inputs);
    if (!got)
      return got.takeError();
    for (auto [output, more] : llvm::zip(all, *got))
      llvm::append_range(output, more);
    return llvm::Error::success();
  }

  /// All rows of a stream, in chunks of these sizes.
  llvm::Error takeAll(int64_t sequence, int stream, llvm::ArrayRef<int64_t> chunks, Outputs &all) {
    int64_t total = rows(sequence, stream), first = 0;
    for (int64_t chunk : chunks) {
      int64_t count = std::min(chunk, total - first);
      if (llvm::Error error = take(sequence, stream, first, count, all))
        return error;
      first += count;
    }
    return llvm::Error::success();
  }

  /// A state that has all of the sequence's contexts.
  llvm::Error begin(int64_t sequence) {
    if (llvm::Error error = model_.reset())
      return error;
    Outputs none;
    for (int stream = 1; stream < int(model_.streams().size()); ++stream)
      if (llvm::Error error = takeAll(sequence, stream, {INT64_MAX}, none))
        return error;
    return llvm::Error::success();
  }

  llvm::Error step(int64_t sequence, int64_t row, Outputs &all) {
    auto inputs = run_.inputs.of(*model_.streams()[0].one, firstRow(sequence, 0) + row);
    llvm::Expected<Outputs> got = model_.step(inputs);
    if (!got)
      return got.takeError();
    for (auto [output, more] : llvm::zip_equal(all, *got))
      llvm::append_range(output, more);
    return llvm::Error::success();
  }

  Outputs noRows() const { return Outputs(signature_.outputs.size()); }

  void compareAll(const Outputs &got, const Outputs &expected, llvm::StringRef what, bool bits = false) {
    for (auto [output, values, wanted] : llvm::zip_equal(signature_.outputs, got, expected)) {
      std::vector<int64_t> shape{int64_t(values.size()) / output.columns, output.columns};
      run_.add(bits ? compareBits(values, wanted, shape) : compare(values, wanted, shape, run_.tolerances.own),
               what.str() + run_.suffixOf(output));
    }
  }

  void showProgress(llvm::StringRef what, int64_t sequence, int64_t row) {
    run_.progress.update(run_.given.name() + ": " + what.str(), run_.first(sequence, axis_) + row,
                         run_.given.offsets()[axis_].back());
  }

  // ---- Comparisons

  /// Row n of the result is what forward gives for the last of the first n + 1 samples of a sequence.
  llvm::Error checkPrefixes() {
    prefixes_ = noRows();
    for (int64_t sequence = 0; sequence < run_.given.sequences(); ++sequence) {
      std::vector<int64_t> lengths = run_.lengthsOf(sequence);
      for (int64_t length = 1; length <= run_.rows(sequence, axis_); ++length) {
        showProgress("forward on prefixes", sequence, length);
        lengths[axis_] = length;
        llvm::Expected<Outputs> got = run_.forward(sequence, lengths);
        if (!got)
          return got.takeError();
        for (auto [output, all, values] : llvm::zip_equal(signature_.outputs, prefixes_, *got))
          all.insert(all.end(), values.end() - output.rowsEach * output.columns, values.end());
      }
    }
    run_.addExpected(prefixes_[0], "prefixes", "forward on prefixes");
    return llvm::Error::success();
  }

  /// step on every sample of every sequence, and what the state holds afterwards.
  llvm::Error checkSteps() {
    steps_ = noRows();
    for (int64_t sequence = 0; sequence < run_.given.sequences(); ++sequence) {
      if (llvm::Error error = begin(sequence))
        return error;
      for (int64_t row = 0; row < rows(sequence, 0); ++row) {
        showProgress("step", sequence, row);
        if (llvm::Error error = step(sequence, row, steps_))
          return error;
      }
    }
    if (model_.streams().size() == 1)
      run_.addExpected(steps_[0], "steps", "step");
    run_.addExpected(steps_[0], "prefixes", "step against prefixes");
    compareAll(steps_, prefixes_, "step against forward");
    return checkCaches();
  }

  /// A stream that is saved in the middle, and goes on in a state that was loaded, is the same stream.
  llvm::Error checkSaved() {
    Outputs all = noRows();
    for (int64_t sequence = 0; sequence < run_.given.sequences(); ++sequence) {
      if (llvm::Error error = begin(sequence))
        return error;
      for (int64_t row = 0; row < rows(sequence, 0); ++row) {
        showProgress("step from a saved state", sequence, row);
        if (row == rows(sequence, 0) / 2)
          if (llvm::Error error = saveAndLoad())
            return error;
        if (llvm::Error error = step(sequence, row, all))
          return error;
      }
    }
    compareAll(all, steps_, "step from a saved state against step", /*bits=*/true);
    return llvm::Error::success();
  }

  llvm::Error saveAndLoad() {
    llvm::Expected<std::vector<char>> saved = model_.stateSave();
    if (!saved)
      return saved.takeError();
    if (llvm::Error error = model_.reset()) // nothing of the state stays
      return error;
    return model_.stateLoad(*saved);
  }

  llvm::Error checkCaches() {
    for (llvm::StringRef name : {"k_cache", "v_cache"})
      if (const StoredTensor *expected = run_.given.expected(name))
        if (llvm::Error error = checkCache(name, *expected))
          return error;
    return llvm::Error::success();
  }

  llvm::ArrayRef<burin_plan_state_value> stateValues() const {
    return {model_.plan().state_values, size_t(model_.plan().state_value_count)};
  }

  llvm::Error checkCache(llvm::StringRef name, const StoredTensor &expected) {
    std::vector<const burin_plan_state_value *> found; // in any scope
    for (const burin_plan_state_value &value : stateValues())
      if (value.name == name || llvm::StringRef(value.name).ends_with(("." + name).str()))
        found.push_back(&value);
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
    run_.addExpected(*got, name, name);
    return llvm::Error::success();
  }

  /// A whole sequence at once, and in odd parts, gives what step gives.
  llvm::Error checkAdvance() {
    for (auto [what, chunks] : {std::pair("at once", llvm::ArrayRef<int64_t>(oddChunks).take_back()),
                                std::pair("in odd chunks", llvm::ArrayRef<int64_t>(oddChunks))}) {
      Outputs all = noRows();
      for (int64_t sequence = 0; sequence < run_.given.sequences(); ++sequence) {
        showProgress("advance", sequence, 0);
        if (llvm::Error error = begin(sequence))
          return error;
        if (llvm::Error error = takeAll(sequence, 0, chunks, all))
          return error;
      }
      compareAll(all, steps_, std::string("advance ") + what + " against step");
    }
    return llvm::Error::success();
  }

  /// Row n of `out.steps` of a graph with a context: sample 0 against the first n + 1 context rows. The step is taken
  /// on a branch, from which the next context row is not seen.
  llvm::Error checkContextSteps() {
    if (model_.streams().size() != 2 || !run_.given.expected("steps"))
      return llvm::Error::success();
    if (rows(0, 0) == 0)
      return failure("'out.steps' is given, but there is no row of '" + llvm::Twine(model_.streams()[0].name) +
                     "' to step with");
    Outputs all = noRows();
    if (llvm::Error error = model_.reset())
      return error;
    for (int64_t row = 0; row < rows(0, 1); ++row) {
      if (llvm::Error error = take(0, 1, row, 1, all))
        return error;
      llvm::Expected<std::vector<char>> saved = model_.stateSave();
      if (!saved)
        return saved.takeError();
      if (llvm::Error error = step(0, 0, all))
        return error;
      if (llvm::Error error = model_.stateLoad(*saved))
        return error;
    }
    run_.addExpected(all[0], "steps", "step against growing context");
    return llvm::Error::success();
  }

  /// Context rows one by one, and in odd parts, leave the state that all of them at once leave.
  llvm::Error checkAppend() {
    for (int stream = 1; stream < int(model_.streams().size()); ++stream) {
      llvm::Expected<Outputs> expected = stateAfter(stream, {INT64_MAX});
      if (!expected)
        return expected.takeError();
      for (auto [what, chunks] :
           {std::pair("row by row", std::vector<int64_t>(rows(0, stream), 1)),
            std::pair("in odd chunks", std::vector<int64_t>(std::begin(oddChunks), std::end(oddChunks)))}) {
        llvm::Expected<Outputs> got = stateAfter(stream, chunks);
        if (!got)
          return got.takeError();
        size_t next = 0;
        for (const burin_plan_state_value &value : stateValues()) {
          if (value.stream != stream)
            continue;
          const Values &values = (*got)[next], &wanted = (*expected)[next];
          ++next;
          if (values.size() != wanted.size())
            return failure(llvm::Twine("'") + value.name + "' has " + llvm::Twine(values.size()) +
                           " values after append " + what + ", expected " + llvm::Twine(wanted.size()));
          run_.add(
              compare(values, wanted, {int64_t(wanted.size()) / value.features, value.features}, run_.tolerances.own),
              std::string("'") + value.name + "' after append_" + model_.streams()[stream].name + " " + what);
        }
      }
    }
    return llvm::Error::success();
  }

  /// The values of a context's state, one after another, when all of its rows were appended in these chunks.
  llvm::Expected<Outputs> stateAfter(int stream, llvm::ArrayRef<int64_t> chunks) {
    Outputs values, none;
    if (llvm::Error error = model_.reset())
      return error;
    if (llvm::Error error = takeAll(0, stream, chunks, none))
      return error;
    for (const burin_plan_state_value &value : stateValues()) {
      if (value.stream != stream)
        continue;
      llvm::Expected<Values> read = model_.stateRead(value.name);
      if (!read)
        return read.takeError();
      values.push_back(std::move(*read));
    }
    return values;
  }

  CaseRun &run_;
  CompiledModel &model_;
  const GraphSignature &signature_;
  size_t axis_ = 0;          // of the signature: whose samples a step takes
  Outputs prefixes_, steps_; // by output: a row, or the rows of a sequence, for each sample
};

} // namespace

llvm::Error checkStreams(CaseRun &run) { return StreamChecker(run).run(); }

} // namespace burin
