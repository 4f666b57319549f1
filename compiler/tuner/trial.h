// Candidates of one kernel: compiled, linked to a program that compares and times them (trial_program.h), run.
//
// The program is what a runner is given. Run here or by another command, on a board or in an emulator, there is one
// path.
//
// Rejected: timing in this process. A candidate that writes where it must not would end the search, and nothing could
// be measured anywhere else.
#pragma once

#include "emit/compile_kernels.h"
#include "emit/model_plan.h"
#include "schedules/tuner/row_buckets.h"
#include "llvm/ADT/ArrayRef.h"
#include <atomic>
#include <functional>

namespace burin {

/// A kernel to tune, as the plan calls it.
struct TrialKernel {
  KernelText text;
  std::string arguments;                     // the C table of trial_program.h
  int weightArgument = -1, weightCopies = 1; // copies that have the size of all weights of the model
  bool rowsVary = false;
  std::vector<int64_t> plannedRows; // by bucket: what the derived schedule is made for (emit/tuned_schedules.h)
  int64_t mostRows = 1;             // that a sequence has; else the fixed number
  std::function<double(int64_t rows)> flops; // of products of matrices
  double bytes = 0, bytesPerRow = 0;         // of all buffers
};

struct Candidate {
  ScheduleParameters asked, used; // `used` is what the schedules made of it
  CompiledKernel compiled;
  std::string path; // of its object
  size_t objectBytes = 0;
  uint64_t content = 0; // hash of the code: parameters that make the same code are one candidate
  std::string refused;  // why; empty: it may be used
};

struct TrialSize {
  int64_t rows;
  bool timed;
};

/// What a program said, for each candidate that it holds.
struct TrialResult {
  std::vector<std::vector<double>> seconds; // [candidate][size], of sizes that are timed
  std::vector<std::string> refused;         // [candidate]: other bits than the first one's, say; empty: none
};

struct TrialOptions {
  std::string runner; // a command that is given the program's path; empty: it runs here
  unsigned jobs = 0;
  std::string cacheFolder;
};

/// Where candidates are compiled and programs are made; a folder that goes away with this.
class TrialBench {
public:
  static llvm::Expected<std::unique_ptr<TrialBench>> open(const Target &target, const TrialOptions &options,
                                                          const std::atomic<bool> &interrupted);
  /// One that compiles and runs nothing, for any target.
  static llvm::Expected<std::unique_ptr<TrialBench>> openToCompile(const Target &target, const TrialOptions &options,
                                                                   const std::atomic<bool> &interrupted);
  ~TrialBench();
  TrialBench(const TrialBench &) = delete;
  TrialBench &operator=(const TrialBench &) = delete;

  /// Compiles candidates, several at once. One that does not compile, or whose code or scratch is beyond `limits` (the
  /// derived schedule's, if given), is refused. What is not given is derived for calls of so many rows at most, or of
  /// any number.
  std::vector<Candidate> compile(const TrialKernel &kernel, llvm::ArrayRef<ScheduleParameters> points,
                                 const Candidate *limits, int64_t mostRows = 0);
  /// The kernel as an autoscheduler of Halide's schedules it, for so many rows; without limits.
  Candidate compileAutoscheduled(const TrialKernel &kernel, const std::string &autoscheduler, int64_t rows);
  /// Runs a program of some candidates, the first of which is the one that all others must equal in every bit. Fails
  /// where it cannot be linked or run, or says something else than a trial does.
  llvm::Expected<TrialResult> run(const TrialKernel &kernel, llvm::ArrayRef<const Candidate *> candidates,
                                  llvm::ArrayRef<TrialSize> sizes, int rounds, double secondsEach);

private:
  TrialBench(const Target &target, const TrialOptions &options, const std::atomic<bool> &interrupted)
      : target_(target), options_(options), interrupted_(interrupted) {}
  llvm::Error makeFolder();
  llvm::Error prepare();
  void keep(Candidate &candidate, CompiledKernel compiled, const std::string &symbol);
  llvm::Expected<std::string> execute(const std::string &program);

  const Target &target_;
  TrialOptions options_;
  const std::atomic<bool> &interrupted_;
  std::string folder_;
  std::vector<std::string> linker_;
  int programs_ = 0, kernels_ = 0;
};

/// The kernels of a plan, ready for trials. `module` is what the passes left.
std::vector<TrialKernel> trialKernelsOf(mlir::ModuleOp module, const ModelPlan &plan);

/// Sizes that stand for a bucket: its end and the middle below it, no more rows than there are.
std::vector<int64_t> sizesOf(const TrialKernel &kernel, int bucket);
/// The buckets in which a kernel runs.
std::vector<int> bucketsOf(const TrialKernel &kernel);

} // namespace burin
