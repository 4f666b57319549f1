// A compiled model where it can run: in this process, or in an emulator of the target's processor. Who calls it through
// these two classes, with pointers of this process, need not know where that is.
//
// The arguments are those of the runtime's functions (runtime/burin_plan.h), and so is what they mean. What is about
// this process's memory holds only where `isInThisProcess`: that nothing outside the buffers is touched, that buffers
// which overlap are refused, that the runtime's probe sees the kernels.
#pragma once

#include "burin_plan.h"
#include "emit/compile.h"
#include <memory>
#include <stdexcept>

namespace burin {

/// The other process ended, or said what it may not. Statuses of calls are results; this is none.
struct MachineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A model that is open; closed with this.
class ModelCalls {
public:
  virtual ~ModelCalls() = default;

  /// The target whose code it runs: of several in the object, the one that opening chose.
  virtual llvm::StringRef target() const = 0;
  virtual burin_status forward(void *scratch, size_t scratchBytes, const int64_t *rows, const void *const *inputs,
                               void *const *outputs) const = 0;
  virtual burin_status forwardBatch(void *scratch, size_t scratchBytes, int64_t sequences,
                                    const int64_t *const *offsets, const void *const *inputs,
                                    void *const *outputs) const = 0;
  virtual burin_status reset(void *state, size_t stateBytes, int64_t position) const = 0;
  virtual burin_status step(void *state, void *scratch, size_t scratchBytes, const void *const *inputs,
                            void *const *outputs) const = 0;
  virtual burin_status advance(int32_t stream, void *state, void *scratch, size_t scratchBytes, int64_t count,
                               const void *const *inputs, void *const *outputs) const = 0;
  virtual burin_status stateRead(const void *state, const char *name, float *values, size_t capacity,
                                 int64_t *rows) const = 0;
  virtual burin_status stateSave(const void *state, void *saved, size_t capacity, size_t *bytes) const = 0;
  virtual burin_status stateLoad(void *state, size_t stateBytes, const void *saved, size_t bytes) const = 0;
};

class LoadedModel {
public:
  /// What compileModel wrote, with a shared library where `runsHere`. The files may be removed afterwards. Fails where
  /// `whyNotRunnable` says why.
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(const CompileResult &compiled);

  virtual ~LoadedModel() = default;

  virtual const burin_plan &plan() const = 0;
  virtual size_t scratchBytes(const int64_t *rows, int64_t sequences) const = 0;
  /// Null where the status is not BURIN_OK. The loaded model outlives what it opened.
  virtual std::unique_ptr<ModelCalls> open(const burin_open_options &options, burin_status &status) const = 0;
  /// Another grain for the first target's plan in this process, also of models that are open, between their calls: for
  /// the tuner, and for tests of small graphs. Elsewhere the plan keeps its own.
  virtual void setGrain(ParallelGrain) {}
  /// A function of the model's header, without the model's name; null where there is none in this process.
  virtual void *entryPoint(const std::string &name) const = 0;
};

/// Whether a target's models run in this process, where pointers, probes and times mean what they say.
bool isInThisProcess(const Target &target);

/// A sentence that says what is missing for running the target's code on this machine, directly or emulated; empty
/// where nothing is.
std::string whyNotRunnable(const Target &target);

} // namespace burin
