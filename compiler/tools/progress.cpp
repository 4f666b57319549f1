#include "tools/progress.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

using namespace std::chrono_literals;

Progress::Progress(llvm::StringRef what)
    : next_(start_ + 2s), terminal_(llvm::sys::Process::StandardErrIsDisplayed()), what_(what.str()),
      thread_(&Progress::keepShowing, this) {}

Progress::~Progress() {
  clear();
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  end_.notify_one();
  thread_.join();
}

void Progress::update(llvm::StringRef what, int64_t done, int64_t total) {
  std::lock_guard lock(mutex_);
  what_.assign(what.data(), what.size());
  done_ = done;
  total_ = total;
  showIfDue();
}

void Progress::showIfDue() {
  Clock::time_point now = Clock::now();
  if (now < next_ || what_.empty())
    return;
  next_ = now + (terminal_ ? Clock::duration(100ms) : Clock::duration(5s));
  std::string line = what_;
  if (total_ > 0)
    line += llvm::formatv(": {0} of {1}", done_, total_).str();
  line += llvm::formatv(" ({0:F0} s)", std::chrono::duration<double>(now - start_).count()).str();
  if (terminal_)
    llvm::errs() << "\r\x1b[K" << line; // \x1b[K: erase to the end of the line
  else
    llvm::errs() << line << "\n";
  shown_ = true;
}

void Progress::keepShowing() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, 1s, [this] { return over_; }))
    showIfDue();
}

void Progress::clear() {
  std::lock_guard lock(mutex_);
  if (shown_ && terminal_)
    llvm::errs() << "\r\x1b[K";
  shown_ = false;
  what_.clear();
}

} // namespace burin
