#include "tools/progress.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

using namespace std::chrono_literals;

Progress::Progress() : next_(start_ + 2s), terminal_(llvm::sys::Process::StandardErrIsDisplayed()) {}

void Progress::update(llvm::StringRef what, int64_t done, int64_t total) {
  Clock::time_point now = Clock::now();
  if (now < next_)
    return;
  next_ = now + (terminal_ ? Clock::duration(100ms) : Clock::duration(5s));
  std::string line = what.str();
  if (total > 0)
    line += llvm::formatv(": {0} of {1}", done, total).str();
  line += llvm::formatv(" ({0:F0} s)", std::chrono::duration<double>(now - start_).count()).str();
  if (terminal_)
    llvm::errs() << "\r\x1b[K" << line; // \x1b[K: erase to the end of the line
  else
    llvm::errs() << line << "\n";
  shown_ = true;
}

void Progress::clear() {
  if (shown_ && terminal_)
    llvm::errs() << "\r\x1b[K";
  shown_ = false;
}

} // namespace burin
