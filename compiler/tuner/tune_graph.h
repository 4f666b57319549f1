// burin tune: searches the schedules of a graph's kernels, a kernel after another, all buckets of rows of a kernel
// together, since a compiled candidate is measured in all of them at once.
#pragma once

#include "schedules/tuner/database.h"
#include "schedules/tuner/row_buckets.h"
#include "schedules/tuner/search.h"
#include "tools/graph_source.h"
#include "tools/progress.h"
#include "tuner/trial.h"

namespace burin {

struct TuneOptions {
  std::string target = "host", cpu, database; // `database`: the file that is written
  TrialOptions trial;
  double budgetSeconds = 120;
  size_t sweep = 0;         // most points of an exhaustive sweep in place of the search; 0: search
  ScheduleParameters start; // where the search starts in place of the derived point; none: there
  std::string only;         // a class of kernels, "fusion" or "parallel"; empty: all
  bool again = false;       // also what the database has already
  int threads = 1;          // of forward, for which the parallel grain is measured; 1: it is not
};

/// A point that was measured: what the page draws.
struct TriedPoint {
  ScheduleParameters used;
  double cost = 0;     // of the derived point's 1; infinity where it was refused
  std::string refused; // why
  int round = 0;
};

/// What came of a kernel in a bucket.
struct TuneResult {
  std::string kernel, about, kernelClass;
  int bucket = 0;
  ScheduleParameters derived, best;       // `best` is the derived where nothing better was confirmed
  double defaultSeconds = 0, seconds = 0; // at the bucket's largest size, of the confirming run
  double flops = 0, bytes = 0;            // of that size; bytes of all operands and results
  bool wasKnown = false;                  // from the database: not searched
  std::string problem;                    // why nothing was measured; empty: all is well
  std::vector<TriedPoint> tried;
};

/// Choices for a graph that were measured.
struct TriedChoices {
  GraphChoices choices;
  double cost = 0;     // of the default's 1; infinity where they were refused
  std::string refused; // why
};

/// What came of an entry's kernels, or of the parallel grain.
struct ChoiceResult {
  std::string record, about, of;          // `of` is "fusion" or "parallel"
  GraphChoices best;                      // none: the default
  double defaultSeconds = 0, seconds = 0; // of forward at full length, or of a step
  bool wasKnown = false;
  std::string problem;
  std::vector<TriedChoices> tried;
};

struct TuneReport {
  std::string model, target, cpu, database;
  double peakGflops = 0, bytesPerSecond = 0; // of the core and its memory; 0: not measured
  int left = 0;                              // kernels that the budget, or the user, left for another run
  std::vector<ChoiceResult> choices;
  std::vector<TuneResult> results;
  TuningDatabase before; // what the file held
  int measured() const;
};

/// Set by SIGINT while a graph is tuned.
extern std::atomic<bool> tuningInterrupted;

/// Tunes and writes records as they come.
llvm::Expected<TuneReport> tuneGraph(mlir::ModuleOp module, const TuneOptions &options, Progress &progress);

/// A kernel at its largest size under several schedulers.
struct SchedulerComparison {
  std::string kernel, about;
  int64_t rows = 0;
  struct Entry {
    std::string scheduler, problem; // why there is no time
    double seconds = 0;
    bool sameBits = true; // as the default's
    size_t bytes = 0;     // of the object, where it is compiled and not run
  };
  std::vector<Entry> entries; // default, tuned where a record is, then each of Halide's autoschedulers
};

/// Times every kernel with the default schedule, with the database's and with those of Halide's autoschedulers. Kernels
/// for a GPU are compiled alone: trials run on a processor.
llvm::Expected<std::vector<SchedulerComparison>> compareAutoschedulers(mlir::ModuleOp module,
                                                                       const TuneOptions &options, Progress &progress);

/// One page that needs nothing else: what was gained, how each search went, landscapes, the roofline.
std::string tuningPage(const TuneReport &report);

} // namespace burin
