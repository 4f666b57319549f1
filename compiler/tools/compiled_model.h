// A graph, compiled, loaded into this process and opened: what check, run and bench call.
//
// It goes the way that every program goes, object and runtime included, and not through a JIT of its own: what the tool
// checks is what a program links. The model's shared library lies in a temporary folder that is removed once it is
// loaded.
#pragma once

#include "emit/compile.h"
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

  /// Compiles `module`, which the passes take apart, for the target, and loads it.
  static llvm::Expected<std::unique_ptr<CompiledModel>> compile(mlir::ModuleOp module, llvm::StringRef target,
                                                                unsigned jobs, Progress &progress);
  ~CompiledModel();
  CompiledModel(const CompiledModel &) = delete;
  CompiledModel &operator=(const CompiledModel &) = delete;

  const burin_plan &plan() const { return *plan_; }
  bool hasStep() const { return plan_->step != nullptr; }
  /// Why the graph has no step; empty when it has one.
  llvm::StringRef noStepReason() const { return noStepReason_; }
  /// By the symbol that the plan's calls name.
  const KernelReport *kernelNamed(llvm::StringRef symbol) const;
  /// Index of a time symbol, as rows and offsets are given.
  int axisNamed(llvm::StringRef name) const;

  /// Weights as the bytes of a safetensors file, or as its path.
  llvm::Error openBytes(llvm::StringRef weights);
  llvm::Error openFile(llvm::StringRef path, bool allowExtraTensors = false);

  /// One sequence; `rows` has the length of each time symbol.
  llvm::Expected<Outputs> forward(llvm::ArrayRef<int64_t> rows, Inputs inputs);
  /// Several sequences packed one after another; `offsets` has a list for each time symbol.
  llvm::Expected<Outputs> forwardBatch(llvm::ArrayRef<std::vector<int64_t>> offsets, Inputs inputs);
  llvm::Error reset();
  /// One sample: every input and output is one row.
  llvm::Expected<Outputs> step(Inputs inputs);
  /// A state value in plain row order, as many rows as the state has samples.
  llvm::Expected<std::vector<float>> stateRead(llvm::StringRef name);

  // For timing: the runtime's call and nothing else. `outputs` has room for the results; reserveScratch came before.
  burin_status callForward(const int64_t *rows, const void *const *inputs, void *const *outputs);
  burin_status callForwardBatch(int64_t sequences, const int64_t *const *offsets, const void *const *inputs,
                                void *const *outputs);
  burin_status callReset();
  burin_status callStep(const void *const *inputs, void *const *outputs);
  void reserveScratch(llvm::ArrayRef<int64_t> rows, int64_t sequences);
  Outputs makeOutputs(const burin_plan_entry &entry, llvm::ArrayRef<int64_t> rows, int64_t sequences) const;

private:
  CompiledModel() = default;
  llvm::Error open(burin_open_options options);
  void removeFolder();
  llvm::Error load(llvm::StringRef libraryPath, llvm::StringRef modelName);

  std::string folder_, noStepReason_;
  std::vector<KernelReport> kernels_;
  void *library_ = nullptr;
  const burin_plan *plan_ = nullptr;
  burin_model *model_ = nullptr;
  AlignedMemory state_, scratch_;
};

/// The addresses of each tensor's first element, as the runtime takes outputs.
std::vector<void *> pointersTo(CompiledModel::Outputs &outputs);

} // namespace burin
