// Worker processes that start at once: one process, started as usual, forks for each job.
//
// Why: a process that holds Halide, MLIR and LLVM is loaded in 37 ms, and a small kernel compiles in 110. The process
// that forks does no job itself, so its children are all alike: whatever a library keeps, each job finds as it is at a
// start. It has one thread, without which a fork would be unsafe.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace burin {

class WorkerProcesses {
public:
  /// Starts `program flag LIMIT`, whose main() serves jobs (serveJobs, below). A job that takes longer than the limit,
  /// in seconds of a processor, is ended: on a machine that is busy otherwise, the time that passes says nothing.
  static llvm::Expected<WorkerProcesses> start(const std::string &program, const char *flag, unsigned limitSeconds);
  WorkerProcesses(WorkerProcesses &&other) noexcept;
  WorkerProcesses &operator=(WorkerProcesses &&) = delete;
  /// Ends all that run.
  ~WorkerProcesses();

  /// A job is a line of text that the worker understands. Its errors go to a file.
  llvm::Error begin(size_t job, llvm::StringRef text, llvm::StringRef errorsPath);

  struct Ended {
    size_t job;
    bool good;       // it returned 0
    bool late;       // it was ended for its time
    std::string how; // "ended with status 3", "was ended by signal 11 (Segmentation fault)"
  };
  /// The next that ends. An error where none can any more: what starts them is gone.
  llvm::Expected<Ended> wait();

private:
  WorkerProcesses(int process, int socket) : process_(process), socket_(socket) {}
  int process_, socket_;
};

/// What main() does in the process that start() made: runs `job` in a child for each text, until the parent is gone;
/// then what still runs is ended. Returns the exit status.
int serveJobs(unsigned limitSeconds, llvm::function_ref<int(llvm::StringRef text)> job);

} // namespace burin
