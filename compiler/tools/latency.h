// A distribution of latencies: what a control loop asks about is the tail, so the mean is not here.
#pragma once

#include "nlohmann/json.hpp"
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace burin {

struct Latency {
  size_t samples = 0;
  double minimum = 0, median = 0, p99 = 0, p999 = 0; // seconds
};

/// Of samples in seconds; at least one.
Latency latencyOf(std::vector<double> seconds);

/// Calls `work`, after a warm-up, until `budget` seconds or `most` samples are reached; at least `least` samples.
/// `between` runs before each call and is not timed.
Latency measureLatency(double budget, size_t least, size_t most, const std::function<void()> &work,
                       const std::function<void()> &between = nullptr);

/// "412 ns", "3.18 us", "14.2 ms".
std::string duration(double seconds);

nlohmann::ordered_json toJson(const Latency &latency);

} // namespace burin
