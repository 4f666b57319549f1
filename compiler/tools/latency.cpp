#include "tools/latency.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

namespace burin {

Latency latencyOf(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  // The smallest sample that is not below the given part of all: never an interpolation between two.
  auto quantile = [&](double part) {
    size_t rank = size_t(std::ceil(part * double(seconds.size())));
    return seconds[std::clamp<size_t>(rank, 1, seconds.size()) - 1];
  };
  return {seconds.size(), seconds.front(), quantile(0.5), quantile(0.99), quantile(0.999)};
}

Latency measureLatency(double budget, size_t least, size_t most, const std::function<void()> &work,
                       const std::function<void()> &between) {
  using Clock = std::chrono::steady_clock;
  auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::vector<double> seconds;
  seconds.reserve(most);
  Clock::time_point begin = Clock::now();
  bool warm = false;
  while (seconds.size() < most && (seconds.size() < least || since(begin) < budget)) {
    if (between)
      between();
    Clock::time_point start = Clock::now();
    work();
    double sample = since(start);
    if (warm)
      seconds.push_back(sample);
    else if (since(begin) > budget / 10) { // the first tenth warms up caches and clocks
      warm = true;
      begin = Clock::now();
    }
  }
  return latencyOf(std::move(seconds));
}

std::string duration(double seconds) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (seconds < 1e-6)
    stream << llvm::format("%.0f ns", seconds * 1e9);
  else if (seconds < 1e-3)
    stream << llvm::format("%.2f us", seconds * 1e6);
  else if (seconds < 1)
    stream << llvm::format("%.2f ms", seconds * 1e3);
  else
    stream << llvm::format("%.2f s", seconds);
  return text;
}

nlohmann::ordered_json toJson(const Latency &latency) {
  return {{"samples", latency.samples},
          {"min_s", latency.minimum},
          {"median_s", latency.median},
          {"p99_s", latency.p99},
          {"p99_9_s", latency.p999}};
}

} // namespace burin
