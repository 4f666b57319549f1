// Signs of life on stderr for work that takes longer than two seconds: one line that is rewritten on a terminal, a line
// every few seconds elsewhere. Nothing before two seconds have passed, so that quick commands stay silent.
//
// A thread shows the line of the last update again while the next one is not there yet: a kernel that compiles for a
// minute, or a file that is packed in one call, is no silence. Rejected: updates alone, which come when a piece of work
// is done.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace burin {

class Progress {
public:
  /// `what` is shown until the first update.
  explicit Progress(llvm::StringRef what);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// "what: done of total"; without a total, only "what".
  void update(llvm::StringRef what, int64_t done = 0, int64_t total = 0);
  /// Removes the line from the terminal, and shows none before the next update; called before anything else is printed.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  void showIfDue();
  void keepShowing();

  Clock::time_point start_ = Clock::now(), next_;
  bool terminal_;
  bool shown_ = false, over_ = false;
  std::string what_; // empty: nothing to show
  int64_t done_ = 0, total_ = 0;
  std::mutex mutex_; // of everything above
  std::condition_variable end_;
  std::thread thread_;
};

} // namespace burin
