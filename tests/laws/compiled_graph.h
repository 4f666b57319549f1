// A graph compiled for a target, loaded where it runs and opened, and calls of it on memory that the test owns.
//
// Not the tool's CompiledModel: the laws need the memory itself (two states side by side, buffers that end at a guard
// page) and what compiling reported.
#pragma once

#include "buffer.h"
#include "burin_plan.h"
#include "declared_graph.h"
#include "machine/loaded_model.h"

namespace burin::laws {

/// A folder that is removed with this.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

/// Throws where the graph does not compile.
CompileResult compile(const DeclaredGraph &graph, const CompileOptions &options);

/// False on a GPU unless BURIN_GPU_LAWS is set: OpenCL on a processor compiles each kernel anew, for a second.
bool isFullyTested(const Target &target);

class CompiledGraph {
public:
  CompiledGraph(const DeclaredGraph &graph, const Target &target) : CompiledGraph(graph, target.name) {}
  /// For several targets in one object, as --target names them.
  CompiledGraph(const DeclaredGraph &graph, llvm::StringRef targets, const TuningSource &tuning = {});

  /// Where every call says that it is much work, so that a model with threads splits all that can be split.
  const LoadedModel &loaded() const { return *loaded_; }
  const burin_plan &plan() const { return loaded_->plan(); }
  /// An entry point, without the model's name; throws where there is none.
  void *entryPoint(const std::string &name) const;

private:
  TemporaryFolder folder_;
  std::unique_ptr<LoadedModel> loaded_;
};

/// A compiled graph with its weights. The compiled graph outlives it.
class OpenedModel {
public:
  /// `target` is the one to choose of several; null: the best.
  OpenedModel(const CompiledGraph &compiled, const DeclaredGraph &graph, const Weights &weights,
              const Target *target = nullptr, int threads = 1);

  const burin_plan &plan() const { return compiled_.plan(); }
  const DeclaredGraph &graph() const { return graph_; }
  const LoadedModel &loaded() const { return compiled_.loaded(); }
  const ModelCalls &calls() const { return *calls_; }
  bool hasStep() const { return plan().stream_count > 0; }
  /// The axis, in the order of GraphSignature::axes, along which a stream goes on.
  int64_t axisOf(int stream) const;

  /// Lengths in the order of the plan's symbols.
  std::vector<int64_t> planRows(const Sequence &sequence) const;

private:
  const CompiledGraph &compiled_;
  const DeclaredGraph &graph_;
  std::unique_ptr<ModelCalls> calls_;
};

/// Values of each output, in the plan's order.
using Outputs = std::vector<std::vector<float>>;

/// Throws, with the status' text, where it is not BURIN_OK.
void require(const std::string &call, burin_status status);

/// `forward` or `forward_batch` with all memory at hand: `run` is the model's call and nothing else.
class ForwardCall {
public:
  ForwardCall(const OpenedModel &model, llvm::ArrayRef<Sequence> sequences, Placement placement = Placement::anywhere);

  /// Other values of sequences as long, in the memory that is there.
  void refill(llvm::ArrayRef<Sequence> sequences);
  burin_status run(); // of the one sequence
  burin_status runBatch();
  /// What each sequence got.
  std::vector<Outputs> results() const;
  std::vector<const Buffer *> buffers() const;

private:
  const OpenedModel &model_;
  std::vector<Sequence> sequences_;
  std::vector<int64_t> rows_; // of all sequences
  std::vector<std::vector<int64_t>> offsets_;
  std::vector<const int64_t *> offsetPointers_;
  std::vector<Buffer> inputs_, outputs_;
  std::vector<const void *> inputPointers_;
  std::vector<void *> outputPointers_;
  std::optional<Buffer> scratch_;
};

Outputs forward(const OpenedModel &model, const Sequence &sequence);
std::vector<Outputs> forwardBatch(const OpenedModel &model, llvm::ArrayRef<Sequence> sequences);

} // namespace burin::laws
