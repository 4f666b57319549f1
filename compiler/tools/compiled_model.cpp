#include "tools/compiled_model.h"
#include "tools/failure.h"
#include "llvm/Support/FileSystem.h"

namespace burin {

constexpr size_t blockAlignment = 64; // of state and scratch, as burin.h asks for

void AlignedMemory::reserve(size_t bytes) {
  if (bytes <= bytes_)
    return;
  bytes_ = (bytes + blockAlignment - 1) / blockAlignment * blockAlignment;
  memory_.reset(std::aligned_alloc(blockAlignment, bytes_));
  if (!memory_)
    llvm::report_fatal_error("out of memory");
}

std::vector<void *> pointersTo(CompiledModel::Outputs &outputs) {
  std::vector<void *> pointers;
  for (std::vector<float> &output : outputs)
    pointers.push_back(output.data());
  return pointers;
}

static llvm::Error check(llvm::StringRef call, burin_status status) {
  if (status == BURIN_OK)
    return llvm::Error::success();
  return failure(call + ": " + burin_status_text(status));
}

// ---- Compiling, loading, opening

llvm::Expected<std::unique_ptr<CompiledModel>> CompiledModel::compile(mlir::ModuleOp module, llvm::StringRef target,
                                                                      unsigned jobs, Progress &progress,
                                                                      const TuningSource &tuning) {
  std::unique_ptr<CompiledModel> model(new CompiledModel);
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("burin", folder))
    return failure("a temporary folder cannot be made: " + error.message());
  model->folder_ = folder.str().str();

  llvm::Expected<std::vector<const Target *>> rows = targetsNamed(target, narrowestPrecision(module));
  if (!rows)
    return rows.takeError();
  CompileOptions options;
  options.target = target.str();
  options.outputFolder = model->folder_;
  options.sharedLibrary = llvm::any_of(*rows, [](const Target *row) { return isInThisProcess(*row); });
  options.jobs = jobs;
  options.tuning = tuning;
  options.warn = [&](llvm::StringRef warning) {
    progress.clear();
    llvm::errs() << "warning: " << warning << "\n";
  };
  options.progress = [&](llvm::StringRef what, int done, int total) {
    progress.update(("compiling " + what).str(), done, total);
  };
  llvm::Expected<CompileResult> result = compileModel(module, options);
  if (!result)
    return result.takeError();
  model->noStepReason_ = result->plan.noStep;
  model->kernels_ = result->kernels;
  llvm::Expected<std::unique_ptr<LoadedModel>> loaded = LoadedModel::load(*result);
  if (!loaded)
    return loaded.takeError();
  model->loaded_ = std::move(*loaded);
  model->removeFolder(); // what is loaded needs its files no more, and nothing is left behind if the program is ended
  return model;
}

CompiledModel::~CompiledModel() { removeFolder(); }

void CompiledModel::removeFolder() {
  if (!folder_.empty())
    llvm::sys::fs::remove_directories(folder_);
  folder_.clear();
}

llvm::Error CompiledModel::open(burin_open_options options) {
  char message[512] = "";
  options.message = message;
  options.message_bytes = sizeof message;
  options.isa = isa_.empty() ? nullptr : isa_.c_str();
  burin_status status;
  calls_ = loaded_->open(options, status);
  if (status != BURIN_OK)
    return failure(*message ? message : burin_status_text(status));
  for (const burin_plan *each = &plan(); each; each = each->fallback)
    state_.reserve(each->state_bytes);
  std::vector<int64_t> oneRow(plan().axis_count, 1);
  reserveScratch(oneRow, 1);
  return llvm::Error::success();
}

llvm::Error CompiledModel::openBytes(llvm::StringRef weights, int threads) {
  burin_open_options options = {};
  options.weights = weights.data();
  options.weights_bytes = weights.size();
  options.threads = threads;
  return open(options);
}

llvm::Error CompiledModel::openFile(llvm::StringRef path, bool allowExtraTensors, int threads) {
  std::string text = path.str();
  burin_open_options options = {};
  options.weights_path = text.c_str();
  options.allow_extra_tensors = allowExtraTensors;
  options.threads = threads;
  if (llvm::Error error = open(options))
    return failure(path + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

// ---- Calls

const KernelReport *CompiledModel::kernelNamed(llvm::StringRef symbol) const {
  for (const KernelReport &kernel : kernels_)
    if (kernel.symbol == symbol)
      return &kernel;
  return nullptr;
}

int CompiledModel::axisNamed(llvm::StringRef name) const {
  for (int axis = 0; axis < plan().axis_count; ++axis)
    if (name == plan().axes[axis].name)
      return axis;
  return -1;
}

void CompiledModel::reserveScratch(llvm::ArrayRef<int64_t> rows, int64_t sequences) {
  scratch_.reserve(loaded_->scratchBytes(rows.data(), sequences));
}

void CompiledModel::reserveScratchFor(int stream, int64_t count) {
  std::vector<int64_t> rows(plan().axis_count, 1);
  int axis = streams()[stream].axis;
  rows[axis] = std::clamp<int64_t>(count, 1, plan().axes[axis].maximum); // longer calls go in parts
  reserveScratch(rows, 1);
}

CompiledModel::Outputs CompiledModel::makeOutputs(const burin_plan_entry &entry, llvm::ArrayRef<int64_t> rows,
                                                  int64_t sequences) const {
  Outputs outputs;
  for (int output = 0; output < entry.output_count; ++output) {
    const burin_plan_tensor &tensor = entry.outputs[output];
    int64_t count = tensor.row_axis >= 0                     ? rows[tensor.row_axis]
                    : tensor.row_axis == BURIN_AXIS_SEQUENCE ? sequences
                                                             : 1;
    outputs.emplace_back(count * tensor.rows_each * tensor.columns);
  }
  return outputs;
}

CompiledModel::Outputs CompiledModel::makeStreamOutputs(int stream, int64_t count) const {
  const burin_plan_entry &entry = *streams()[stream].one;
  Outputs outputs;
  for (const burin_plan_tensor &tensor : llvm::ArrayRef(entry.outputs, entry.output_count))
    outputs.emplace_back(count * tensor.rows_each * tensor.columns);
  return outputs;
}

burin_status CompiledModel::callForward(const int64_t *rows, const void *const *inputs, void *const *outputs) {
  return calls_->forward(scratch_.data(), scratch_.bytes(), rows, inputs, outputs);
}

burin_status CompiledModel::callForwardBatch(int64_t sequences, const int64_t *const *offsets,
                                             const void *const *inputs, void *const *outputs) {
  return calls_->forwardBatch(scratch_.data(), scratch_.bytes(), sequences, offsets, inputs, outputs);
}

burin_status CompiledModel::callReset(int64_t position) {
  return calls_->reset(state_.data(), state_.bytes(), position);
}

burin_status CompiledModel::callStep(const void *const *inputs, void *const *outputs) {
  return calls_->step(state_.data(), scratch_.data(), scratch_.bytes(), inputs, outputs);
}

burin_status CompiledModel::callAdvance(int stream, int64_t count, const void *const *inputs, void *const *outputs) {
  return calls_->advance(stream, state_.data(), scratch_.data(), scratch_.bytes(), count, inputs, outputs);
}

llvm::Expected<CompiledModel::Outputs> CompiledModel::forward(llvm::ArrayRef<int64_t> rows, Inputs inputs) {
  reserveScratch(rows, 1);
  Outputs outputs = makeOutputs(*plan().forward, rows, 1);
  if (llvm::Error error = check("forward", callForward(rows.data(), inputs.data(), pointersTo(outputs).data())))
    return error;
  return outputs;
}

llvm::Expected<CompiledModel::Outputs> CompiledModel::forwardBatch(llvm::ArrayRef<std::vector<int64_t>> offsets,
                                                                   Inputs inputs) {
  int64_t sequences = int64_t(offsets[0].size()) - 1;
  std::vector<int64_t> rows;
  std::vector<const int64_t *> offsetPointers;
  for (const std::vector<int64_t> &list : offsets) {
    rows.push_back(list.back());
    offsetPointers.push_back(list.data());
  }
  reserveScratch(rows, sequences);
  Outputs outputs = makeOutputs(*plan().forward, rows, sequences);
  burin_status status = callForwardBatch(sequences, offsetPointers.data(), inputs.data(), pointersTo(outputs).data());
  if (llvm::Error error = check("forward_batch", status))
    return error;
  return outputs;
}

llvm::Error CompiledModel::reset(int64_t position) { return check("reset", callReset(position)); }

llvm::Expected<CompiledModel::Outputs> CompiledModel::step(Inputs inputs) {
  Outputs outputs = makeStreamOutputs(0, 1);
  if (llvm::Error error = check("step", callStep(inputs.data(), pointersTo(outputs).data())))
    return error;
  return outputs;
}

llvm::Expected<CompiledModel::Outputs> CompiledModel::advance(int stream, int64_t count, Inputs inputs) {
  reserveScratchFor(stream, count);
  Outputs outputs = makeStreamOutputs(stream, count);
  std::string call = stream == 0 ? "advance" : std::string("append_") + streams()[stream].name;
  if (llvm::Error error = check(call, callAdvance(stream, count, inputs.data(), pointersTo(outputs).data())))
    return error;
  return outputs;
}

llvm::Expected<std::vector<float>> CompiledModel::stateRead(llvm::StringRef name) {
  int64_t features = 0, capacity = 0;
  for (const burin_plan_state_value &value : llvm::ArrayRef(plan().state_values, plan().state_value_count))
    if (name == value.name) {
      features = value.features;
      capacity = value.rows * features;
    }
  std::vector<float> values(capacity);
  int64_t rows = 0;
  burin_status status = calls_->stateRead(state_.data(), name.str().c_str(), values.data(), values.size(), &rows);
  if (llvm::Error error = check("state_read", status))
    return error;
  values.resize(rows * features);
  return values;
}

llvm::Expected<std::vector<char>> CompiledModel::stateSave() {
  size_t bytes = 0;
  if (llvm::Error error = check("state_save", calls_->stateSave(state_.data(), nullptr, 0, &bytes)))
    return error;
  std::vector<char> saved(bytes);
  if (llvm::Error error = check("state_save", calls_->stateSave(state_.data(), saved.data(), saved.size(), &bytes)))
    return error;
  return saved;
}

llvm::Error CompiledModel::stateLoad(llvm::ArrayRef<char> saved) {
  return check("state_load", calls_->stateLoad(state_.data(), state_.bytes(), saved.data(), saved.size()));
}

} // namespace burin
