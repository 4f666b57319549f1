#include "compiled_graph.h"
#include "llvm/Support/FileSystem.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace burin::laws {

constexpr size_t blockAlignment = 64, rowAlignment = 4; // of state and scratch, of inputs and outputs: burin.h

/// Threads share every call of forward: the graphs of tests are small.
constexpr ParallelGrain splitAlways = {0, 0};

TemporaryFolder::TemporaryFolder() {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("burin-laws", path))
    throw std::runtime_error("a temporary folder cannot be made: " + error.message());
  path_ = path.str().str();
}

TemporaryFolder::~TemporaryFolder() { llvm::sys::fs::remove_directories(path_); }

bool isFullyTested(const Target &target) { return target.device.empty() || std::getenv("BURIN_GPU_LAWS"); }

CompileResult compile(const DeclaredGraph &graph, const CompileOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> module = graph.module();
  llvm::Expected<CompileResult> result = compileModel(*module, options);
  if (!result)
    throw std::runtime_error("compile: " + llvm::toString(result.takeError()));
  return std::move(*result);
}

CompiledGraph::CompiledGraph(const DeclaredGraph &graph, llvm::StringRef targets, const TuningSource &tuning) {
  CompileOptions options;
  options.target = targets.str();
  options.tuning = tuning;
  options.outputFolder = folder_.path();
  options.sharedLibrary = llvm::any_of(llvm::cantFail(targetsNamed(targets)),
                                       [](const Target *target) { return isInThisProcess(*target); });
  llvm::Expected<std::unique_ptr<LoadedModel>> loaded = LoadedModel::load(compile(graph, options));
  if (!loaded)
    throw std::runtime_error(llvm::toString(loaded.takeError()));
  loaded_ = std::move(*loaded);
  loaded_->setGrain(splitAlways);
}

void *CompiledGraph::entryPoint(const std::string &name) const {
  void *symbol = loaded_->entryPoint(name);
  if (!symbol)
    throw std::runtime_error("the compiled graph has no entry point " + name);
  return symbol;
}

OpenedModel::OpenedModel(const CompiledGraph &compiled, const DeclaredGraph &graph, const Weights &weights,
                         const Target *target, int threads)
    : compiled_(compiled), graph_(graph) {
  std::string file = graph.fileOf(weights);
  char message[512] = "";
  burin_open_options options = {};
  options.isa = target ? target->name.data() : nullptr;
  options.weights = file.data();
  options.weights_bytes = file.size();
  options.message = message;
  options.message_bytes = sizeof message;
  options.threads = threads;
  burin_status status;
  calls_ = compiled.loaded().open(options, status);
  require(std::string("open: ") + message, status);
}

std::vector<int64_t> OpenedModel::planRows(const Sequence &sequence) const {
  std::vector<int64_t> rows;
  for (int axis = 0; axis < plan().axis_count; ++axis)
    rows.push_back(graph_.rowsOf(plan().axes[axis].name, sequence));
  return rows;
}

int64_t OpenedModel::axisOf(int stream) const {
  llvm::ArrayRef<Axis> axes = graph_.signature().axes;
  const Axis *axis = llvm::find_if(axes, [&](const Axis &axis) { return axis.name == plan().streams[stream].name; });
  return axis - axes.begin();
}

void require(const std::string &call, burin_status status) {
  if (status != BURIN_OK)
    throw std::runtime_error(call + ": " + burin_status_text(status));
}

// ---- forward

static int64_t rowsOf(const burin_plan_tensor &tensor, llvm::ArrayRef<int64_t> rows, int64_t sequences) {
  int64_t units = tensor.row_axis >= 0 ? rows[tensor.row_axis] : tensor.row_axis == BURIN_AXIS_SEQUENCE ? sequences : 1;
  return units * tensor.rows_each;
}

ForwardCall::ForwardCall(const OpenedModel &model, llvm::ArrayRef<Sequence> sequences, Placement placement)
    : model_(model), sequences_(sequences.vec()) {
  const burin_plan &plan = model.plan();
  const burin_plan_entry &entry = *plan.forward;
  offsets_.assign(plan.axis_count, {0});
  for (const Sequence &sequence : sequences_)
    for (auto [axis, rows] : llvm::enumerate(model.planRows(sequence)))
      offsets_[axis].push_back(offsets_[axis].back() + rows);
  for (const std::vector<int64_t> &offsets : offsets_) {
    rows_.push_back(offsets.back());
    offsetPointers_.push_back(offsets.data());
  }

  for (int i = 0; i < entry.input_count; ++i) {
    size_t bytes = 0;
    for (const Sequence &sequence : sequences_)
      bytes += sequence.inputs[i].bytes();
    Buffer buffer(std::string("input ") + entry.inputs[i].name, bytes, rowAlignment, placement);
    inputPointers_.push_back(buffer.as());
    inputs_.push_back(std::move(buffer));
  }
  for (int i = 0; i < entry.output_count; ++i) {
    size_t bytes =
        rowsOf(entry.outputs[i], rows_, int64_t(sequences_.size())) * entry.outputs[i].columns * sizeof(float);
    outputs_.emplace_back(std::string("output ") + entry.outputs[i].name, bytes, rowAlignment, placement);
    outputPointers_.push_back(outputs_.back().as());
  }
  scratch_.emplace("scratch", model.loaded().scratchBytes(rows_.data(), int64_t(sequences_.size())), blockAlignment,
                   placement);
  refill(sequences);
}

void ForwardCall::refill(llvm::ArrayRef<Sequence> sequences) {
  for (auto [i, buffer] : llvm::enumerate(inputs_)) {
    unsigned char *next = buffer.as<unsigned char>();
    for (const Sequence &sequence : sequences) {
      const auto *from = static_cast<const unsigned char *>(sequence.inputs[i].data());
      next = std::copy_n(from, sequence.inputs[i].bytes(), next);
    }
  }
}

burin_status ForwardCall::run() {
  return model_.calls().forward(scratch_->as(), scratch_->bytes(), rows_.data(), inputPointers_.data(),
                                outputPointers_.data());
}

burin_status ForwardCall::runBatch() {
  return model_.calls().forwardBatch(scratch_->as(), scratch_->bytes(), int64_t(sequences_.size()),
                                     offsetPointers_.data(), inputPointers_.data(), outputPointers_.data());
}

std::vector<Outputs> ForwardCall::results() const {
  std::vector<Outputs> results(sequences_.size());
  const burin_plan_entry &entry = *model_.plan().forward;
  for (int i = 0; i < entry.output_count; ++i) {
    const float *next = outputs_[i].as<float>();
    for (auto [sequence, result] : llvm::zip_equal(sequences_, results)) {
      int64_t count = rowsOf(entry.outputs[i], model_.planRows(sequence), 1) * entry.outputs[i].columns;
      result.emplace_back(next, next + count);
      next += count;
    }
  }
  return results;
}

std::vector<const Buffer *> ForwardCall::buffers() const {
  std::vector<const Buffer *> all{&*scratch_};
  for (const std::vector<Buffer> *list : {&inputs_, &outputs_})
    for (const Buffer &buffer : *list)
      all.push_back(&buffer);
  return all;
}

Outputs forward(const OpenedModel &model, const Sequence &sequence) {
  ForwardCall call(model, sequence);
  require("forward", call.run());
  return call.results()[0];
}

std::vector<Outputs> forwardBatch(const OpenedModel &model, llvm::ArrayRef<Sequence> sequences) {
  ForwardCall call(model, sequences);
  require("forward_batch", call.runBatch());
  return call.results();
}

} // namespace burin::laws
