// What the cores in use can do at most, for "% of peak" in the same run:
//
//     machine THREADS BYTES…
//
// prints {"gflops": G, "gigabytes": [B, …]}: the best of ten runs of a loop of fused multiply-adds in registers, and
// for each number of bytes the best of ten runs that read so many over and over, split among the threads.
#include "tools/fma_peak.h"
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

constexpr int runs = 10;
constexpr double secondsPerRun = 5e-3;

/// The best sum over the threads of what `measure` finds, all of them at it at the same time.
double bestOfRuns(int threads, const std::function<double(int thread)> &measure) {
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> found(threads);
    std::barrier together(threads);
    std::vector<std::thread> others;
    for (int thread = 0; thread < threads; ++thread)
      others.emplace_back([&, thread] {
        together.arrive_and_wait();
        found[thread] = measure(thread);
      });
    for (std::thread &other : others)
      other.join();
    double sum = 0;
    for (double one : found)
      sum += one;
    best = std::max(best, sum);
  }
  return best;
}

using Vector = float __attribute__((vector_size(64)));

/// Adds up all vectors, in eight sums that do not wait for one another.
float sumOf(const std::vector<Vector> &values) {
  Vector sums[8] = {};
  for (size_t i = 0; i + 8 <= values.size(); i += 8)
    for (int lane = 0; lane < 8; ++lane)
      sums[lane] += values[i + lane];
  float total = 0;
  for (const Vector &sum : sums)
    total += sum[0];
  return total;
}

double readGigabytes(const std::vector<Vector> &values) {
  using Clock = std::chrono::steady_clock;
  size_t bytes = 0;
  auto start = Clock::now();
  double seconds = 0;
  do {
    float sum = sumOf(values);
    asm volatile("" : : "x"(sum) : "memory");
    bytes += values.size() * sizeof(Vector);
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  } while (seconds < secondsPerRun);
  return double(bytes) / seconds * 1e-9;
}

int widestLanes() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx2") ? 8 : 4;
#else
  return 4;
#endif
}

} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  if (threads < 1) {
    std::fprintf(stderr, "usage: machine THREADS BYTES...\n");
    return 2;
  }
  double gflops = bestOfRuns(threads, [](int) { return burin::measureFmaPeak(widestLanes()); });
  std::printf("{\"gflops\": %.2f, \"gigabytes\": [", gflops);
  for (int i = 2; i < argc; ++i) {
    size_t vectors = std::max<size_t>(8, size_t(std::atoll(argv[i])) / sizeof(Vector) / threads);
    std::vector<std::vector<Vector>> parts(threads, std::vector<Vector>(vectors, Vector{}));
    double rate = bestOfRuns(threads, [&](int thread) { return readGigabytes(parts[thread]); });
    std::printf("%s%.2f", i > 2 ? ", " : "", rate);
  }
  std::printf("]}\n");
}
