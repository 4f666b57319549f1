// Signs of life on stderr for work that takes longer than two seconds: one line that is rewritten on a terminal, a line
// every few seconds elsewhere. Nothing before two seconds have passed, so that quick commands stay silent.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <chrono>

namespace burin {

class Progress {
public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// "what: done of total"; without a total, only "what".
  void update(llvm::StringRef what, int64_t done = 0, int64_t total = 0);
  /// Removes the line from the terminal; called before anything else is printed.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now(), next_;
  bool terminal_;
  bool shown_ = false;
};

} // namespace burin
