// A graph, compiled, loaded where it runs (machine/loaded_model.h) and opened: what check, run and bench call.
//
// It goes the way that every program goes, object and runtime included, and not through a JIT of its own: what the tool
// checks is what a program links. The model's files lie in a temporary folder that is removed once it is loaded.
#pragma once

#include "machine/loaded_model.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/burin_plan.h"
#include "tools/progress.h"
#include "tools/safetensors_file.h"
#include <cstdlib>

namespace burin {

/// Memory at the alignment of states and scratch arenas.
class AlignedMemory {
public:
  /// At least `bytes`; what it held before is lost when it grows.
  void reserve(size_t bytes);
  void *data() const { return memory_.get(); }
  size_t bytes() const { return bytes_; }

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  size_t bytes_ = 0;
};

class CompiledModel {
public:
  /// One tensor per output, in the plan's order.
  using Outputs = std::vector<std::vector<float>>;
  /// One pointer per input, in the plan's order.
  using Inputs = llvm::ArrayRef<const void *>;

  /// Compiles `module`, which the passes take apart, for the target or the targets, and loads it.
  static llvm::Expected<std::unique_ptr<CompiledModel>> compile(mlir::ModuleOp module, llvm::StringRef target,
                                                                unsigned jobs, Progress &progress,
                                                                const TuningSource &tuning = {});
  ~CompiledModel();
  CompiledModel(const CompiledModel &) = delete;
  CompiledModel &operator=(const CompiledModel &) = delete;

  const burin_plan &plan() const { return loaded_->plan(); }
  bool hasStep() const { return plan().stream_count > 0; }
  /// The first is step's, the others are contexts.
  llvm::ArrayRef<burin_plan_stream> streams() const { return {plan().streams, size_t(plan().stream_count)}; }
  /// Why the graph has no step; empty when it has one.
  llvm::StringRef noStepReason() const { return noStepReason_; }
  /// By the symbol that the plan's calls name.
  const KernelReport *kernelNamed(llvm::StringRef symbol) const;
  /// Index of a time symbol, as rows and offsets are given.
  int axisNamed(llvm::StringRef name) const;

  /// What opening chooses where the model is compiled for several targets; otherwise the best that runs.
  void choose(llvm::StringRef target) { isa_ = target.str(); }
  /// Weights as the bytes of a safetensors file, or as its path; `threads` in a pool, or the caller's alone. Closes
  /// what was open.
  llvm::Error openBytes(llvm::StringRef weights, int threads = 1);
  llvm::Error openFile(llvm::StringRef path, bool allowExtraTensors = false, int threads = 1);

  /// When calls of forward are split, in place of what the plan says.
  void setGrain(ParallelGrain grain) { loaded_->setGrain(grain); }

  /// One sequence; `rows` has the length of each time symbol.
  llvm::Expected<Outputs> forward(llvm::ArrayRef<int64_t> rows, Inputs inputs);
  /// Several sequences packed one after another; `offsets` has a list for each time symbol.
  llvm::Expected<Outputs> forwardBatch(llvm::ArrayRef<std::vector<int64_t>> offsets, Inputs inputs);

  // The model has one state. Inputs are those of the stream's entry, in its order.
  llvm::Error reset(int64_t position = 0);
  /// One row of the first stream.
  llvm::Expected<Outputs> step(Inputs inputs);
  /// `count` rows of a stream, with scratch for all of them; outputs where it is the first.
  llvm::Expected<Outputs> advance(int stream, int64_t count, Inputs inputs);
  /// A state value in plain row order.
  llvm::Expected<std::vector<float>> stateRead(llvm::StringRef name);
  llvm::Expected<std::vector<char>> stateSave();
  llvm::Error stateLoad(llvm::ArrayRef<char> saved);

  // For timing: the runtime's call and nothing else. `outputs` has room for the results; reserveScratch came before.
  burin_status callForward(const int64_t *rows, const void *const *inputs, void *const *outputs);
  burin_status callForwardBatch(int64_t sequences, const int64_t *const *offsets, const void *const *inputs,
                                void *const *outputs);
  burin_status callReset(int64_t position = 0);
  burin_status callStep(const void *const *inputs, void *const *outputs);
  burin_status callAdvance(int stream, int64_t count, const void *const *inputs, void *const *outputs);
  void reserveScratch(llvm::ArrayRef<int64_t> rows, int64_t sequences);
  void reserveScratchFor(int stream, int64_t count);
  Outputs makeOutputs(const burin_plan_entry &entry, llvm::ArrayRef<int64_t> rows, int64_t sequences) const;
  /// Of `count` rows of a stream.
  Outputs makeStreamOutputs(int stream, int64_t count) const;

private:
  CompiledModel() = default;
  llvm::Error open(burin_open_options options);
  void removeFolder();

  std::string folder_, noStepReason_, isa_;
  std::vector<KernelReport> kernels_;
  std::unique_ptr<LoadedModel> loaded_;
  std::unique_ptr<ModelCalls> calls_; // once it is open
  AlignedMemory state_, scratch_;
};

/// The addresses of each tensor's first element, as the runtime takes outputs.
std::vector<void *> pointersTo(CompiledModel::Outputs &outputs);

} // namespace burin
