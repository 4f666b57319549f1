// Several ways to run one graph, which must agree in every bit, timed in turns: calls of forward at several lengths,
// and rows of a stream.
//
// What is chosen for a whole graph shows only here. A kernel alone (trial.h) knows nothing of the calls around it, of
// what they leave in caches, or of threads. It runs in this process, with the object and runtime that a program links.
//
// Rejected: one way after another. On a machine with other work, a slow minute would decide.
#pragma once

#include "tools/bench_inputs.h"
#include "tools/compiled_model.h"
#include <atomic>

namespace burin {

/// A compiled model that is open, and when it splits calls, where that is to be said.
struct GraphWay {
  CompiledModel *model = nullptr;
  std::optional<ParallelGrain> grain = std::nullopt;
};

struct GraphCall {
  std::string entry; // "forward", or "step": rows of the first stream after a reset
  int64_t length;    // rows of every time symbol, as far as it has so many
  bool timed;        // otherwise only its bits are compared
};

class GraphTrial {
public:
  /// The first way is the default. All are models of one graph.
  GraphTrial(std::vector<GraphWay> ways, const std::atomic<bool> &interrupted);

  struct Found {
    size_t way = 0;                         // the default where none is better
    double seconds = 0, defaultSeconds = 0; // of the entry's last call, in the confirming runs
    std::vector<double> costs;              // of `ways`, in order; infinity where one is refused
    std::vector<std::string> refused;       // why; empty: it may be used
  };
  /// The best of some ways for an entry, the default first, and whether fresh runs confirm it: all briefly, the better
  /// third for longer.
  llvm::Expected<Found> findBest(llvm::StringRef entry, llvm::ArrayRef<size_t> ways);

private:
  /// Why a way may not be used: a call fails, or gives other bits than the default. Empty: nothing speaks against it.
  std::string whyRefused(size_t way);
  llvm::Expected<std::vector<float>> resultsOf(size_t way, size_t call);
  /// Least seconds by way and call, in so many turns of the entry's timed calls; fewer where they take long.
  std::vector<std::vector<double>> time(llvm::ArrayRef<size_t> ways, llvm::ArrayRef<size_t> calls, int rounds);
  double secondsOf(size_t way, size_t call, int64_t repetitions);
  double forwardSeconds(CompiledModel &model, size_t call, int64_t repetitions);
  double stepSeconds(CompiledModel &model, size_t call, int64_t repetitions);
  burin_status beginStream(CompiledModel &model, size_t call);
  CompiledModel &modelOf(size_t way);

  std::vector<GraphWay> ways_;
  const std::atomic<bool> &interrupted_;
  std::vector<GraphCall> calls_;
  std::vector<std::vector<int64_t>> rows_; // of each call, by time symbol
  std::vector<InputValues> inputs_;        // of each call
  std::vector<int64_t> repetitions_;       // in one measurement; 0: not known yet
  std::vector<std::vector<float>> expected_;
};

} // namespace burin
