// A windowed encoder, streamed for very many steps, ends as it began: the right outputs, as fast, in as much memory.
//
//     build/bin/windowed_stream WEIGHTS.safetensors [--steps N] [--start POSITION] [--no-timing]
//
// Three promises, each with a line `ok` or `WRONG`; the exit status is not 0 when one is wrong:
//   outputs   the last ones are those, up to rounding, of a fresh state that starts at the position of the last samples
//             and sees only these: depth (window - 1) + 1 of them are all that the last output depends on;
//   latency   the last 10^5 steps have the median of the first 10^5 with a full window, within 5 %;
//   memory    as much is resident after the last step as after the first 10^5.
// --no-timing leaves latency out. --start is the position of the first sample.
#include "windowed_encoder.h" // generated from graph.cpp

#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace {

// Of the graph.
constexpr int depth = 2, window = 24;
constexpr int64_t seen = depth * (window - 1) + 1; // samples that an output depends on

// One reading of the clock costs about as much as 1 % of a step, so it is read around some steps, not around each.
constexpr int64_t blockSteps = 10, measuredSteps = 100000, measuredBlocks = measuredSteps / blockSteps;

constexpr int features = WINDOWED_ENCODER_X_FEATURES, outputs = WINDOWED_ENCODER_Y_FEATURES;
using Sample = std::array<float, features>;
using Output = std::array<float, outputs>;
using Clock = std::chrono::steady_clock;

int wrong = 0;

/// Begins a line that the caller ends with numbers.
void check(const char *promise, bool holds) {
  std::printf("%-5s %s: ", holds ? "ok" : "WRONG", promise);
  wrong += !holds;
}

void require(burin_status status, const char *message = "") {
  if (status == BURIN_OK)
    return;
  std::fprintf(stderr, "windowed_stream: error: %s%s%s\n", burin_status_text(status), *message ? ": " : "", message);
  std::exit(1);
}

/// The sample at a position: noise in [-1, 1), the same whoever asks (splitmix64: Steele, Lea, Flood 2014).
Sample sampleAt(int64_t position) {
  Sample sample;
  for (int feature = 0; feature < features; ++feature) {
    uint64_t bits = (uint64_t(position) * features + uint64_t(feature) + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    sample[size_t(feature)] = float(int32_t((bits ^ (bits >> 31)) >> 32)) * 0x1p-31f;
  }
  return sample;
}

/// Without stdio, whose buffers would be part of the answer.
int64_t residentKibibytes() {
  char text[128] = "";
  int file = ::open("/proc/self/statm", O_RDONLY);
  ssize_t length = file < 0 ? -1 : ::read(file, text, sizeof text - 1);
  if (file >= 0)
    ::close(file);
  long all = 0, resident = 0;
  bool isRead = length > 0 && std::sscanf(text, "%ld %ld", &all, &resident) == 2;
  return isRead ? int64_t(resident) * sysconf(_SC_PAGESIZE) / 1024 : -1;
}

struct alignas(64) CacheLine {
  unsigned char bytes[64];
};
using Memory = std::vector<CacheLine>;
Memory memoryOf(size_t bytes) { return Memory((bytes + sizeof(CacheLine) - 1) / sizeof(CacheLine)); }

/// Seconds of blocks of steps. All the room is there, and touched, from the beginning: it counts as resident.
class BlockTimes {
public:
  BlockTimes() : seconds_(size_t(measuredBlocks), 1.0) {}
  bool isFull() const { return count_ == seconds_.size(); }
  void add(double seconds) { seconds_[count_++] = seconds; }
  void clear() { count_ = 0; }
  double medianStepMicroseconds() {
    auto middle = seconds_.begin() + std::ptrdiff_t(count_ / 2);
    std::nth_element(seconds_.begin(), middle, seconds_.begin() + std::ptrdiff_t(count_));
    return *middle * 1e6 / double(blockSteps);
  }

private:
  std::vector<double> seconds_;
  size_t count_ = 0;
};

class Stream {
public:
  Stream(burin_model *model, int64_t start)
      : model_(model), state_(memoryOf(windowed_encoder_state_bytes())),
        scratch_(memoryOf(windowed_encoder_scratch_bytes(1))) {
    require(windowed_encoder_reset_at(model, state_.data(), state_.size() * sizeof(CacheLine), start));
  }

  /// Up to blockSteps more samples; only the steps are inside the clock.
  double step(int64_t count) {
    std::array<Sample, blockSteps> samples;
    for (int64_t i = 0; i < count; ++i)
      samples[size_t(i)] = sampleAt(position() + i);
    burin_status status = BURIN_OK;
    Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < count && status == BURIN_OK; ++i)
      status = windowed_encoder_step(model_, state_.data(), scratch_.data(), scratch_.size() * sizeof(CacheLine),
                                     samples[size_t(i)].data(), last_.data());
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    require(status);
    return seconds;
  }

  void stepTo(int64_t end) {
    while (position() < end)
      step(std::min(end - position(), blockSteps));
  }

  int64_t position() const { return burin_state_position(state_.data()); }
  const Output &last() const { return last_; }

private:
  burin_model *model_;
  Memory state_, scratch_;
  Output last_ = {};
};

/// Largest difference, as a part of the largest expected value; not a number where one is not.
double difference(const Output &got, const Output &expected) {
  double largest = 0, scale = 0;
  for (int i = 0; i < outputs; ++i) {
    double apart = std::fabs(double(got[size_t(i)]) - double(expected[size_t(i)]));
    largest = apart > largest || std::isnan(apart) ? apart : largest;
    scale = std::max(scale, std::fabs(double(expected[size_t(i)])));
  }
  return largest / scale;
}

/// Whether `last` is within 5 % of `first`, with a line that says so.
bool compare(const char *when, double first, double last) {
  std::printf("      %s: median of a step %.4f us at the beginning, %.4f us at the end (%+.1f %%)\n", when, first, last,
              (last / first - 1) * 100);
  return std::fabs(last / first - 1) <= 0.05;
}

/// The same comparison without what the machine did in between: a new stream with a full window and the old one take
/// turns, block by block.
bool compareSideBySide(burin_model *model, int64_t start, Stream &stream, BlockTimes &first, BlockTimes &last) {
  Stream young(model, start);
  young.stepTo(start + window);
  first.clear();
  last.clear();
  while (!first.isFull()) {
    first.add(young.step(blockSteps));
    last.add(stream.step(blockSteps));
  }
  return compare("measured again, in turns with a new stream", first.medianStepMicroseconds(),
                 last.medianStepMicroseconds());
}

struct Options {
  const char *weights = nullptr;
  int64_t steps = 10000000, start = 0;
  bool timing = true;
};

Options parse(int argc, char **argv) {
  Options options;
  bool isWrong = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-timing") == 0)
      options.timing = false;
    else if (std::strcmp(argv[i], "--steps") == 0 && i + 1 < argc)
      options.steps = std::strtoll(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--start") == 0 && i + 1 < argc)
      options.start = std::strtoll(argv[++i], nullptr, 10);
    else if (argv[i][0] != '-' && !options.weights)
      options.weights = argv[i];
    else
      isWrong = true;
  }
  // The first and the last measured steps do not overlap.
  if (isWrong || !options.weights || options.start < 0 || options.steps < 2 * measuredSteps) {
    std::fprintf(stderr,
                 "usage: windowed_stream WEIGHTS.safetensors [--steps N, from %" PRId64 "] [--start POSITION] "
                 "[--no-timing]\n",
                 2 * measuredSteps);
    std::exit(2);
  }
  return options;
}

} // namespace

int main(int argc, char **argv) {
  const Options options = parse(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  char message[512] = "";
  burin_open_options open = {};
  open.weights_path = options.weights;
  open.message = message;
  open.message_bytes = sizeof message;
  burin_model *model;
  require(windowed_encoder_open(&open, &model), message);

  const int64_t end = options.start + options.steps;
  Stream stream(model, options.start);
  BlockTimes first, last;
  int64_t residentEarly = 0;
  std::printf("%" PRId64 " steps from position %" PRId64 ", window %d, depth %d, state of %zu bytes\n", options.steps,
              options.start, window, depth, windowed_encoder_state_bytes());
  Clock::time_point begin = Clock::now(), said;
  auto sayWhere = [&] {
    said = Clock::now();
    std::printf("      %10" PRId64 " steps, %3.0f s, %" PRId64 " KiB resident\n", stream.position() - options.start,
                std::chrono::duration<double>(said - begin).count(), residentKibibytes());
  };
  sayWhere(); // at once: what the C library needs for it is resident from now on
  stream.stepTo(options.start + window);
  while (stream.position() < end) {
    int64_t left = end - stream.position();
    double seconds = stream.step(std::min(left, blockSteps));
    if (!first.isFull())
      first.add(seconds);
    else if (left < measuredSteps + blockSteps && left >= blockSteps)
      last.add(seconds);
    if (residentEarly == 0 && stream.position() - options.start >= measuredSteps)
      residentEarly = residentKibibytes();
    if (Clock::now() - said >= std::chrono::seconds(3))
      sayWhere();
  }
  const int64_t residentLate = residentKibibytes();

  auto freshFrom = [&](int64_t samples) {
    Stream fresh(model, end - samples);
    fresh.stepTo(end);
    return difference(stream.last(), fresh.last());
  };
  double enough = freshFrom(seen), tooFew = freshFrom(seen - 1);
  check("outputs", enough <= 1e-5);
  std::printf("a fresh state with the last %" PRId64 " samples differs by %.1e of the largest value, allowed 1e-5\n",
              seen, enough);
  check("no fewer samples", tooFew > 1e-5); // what the line above compares does depend on them
  std::printf("a fresh state with the last %" PRId64 " differs by %.1e\n", seen - 1, tooFew);

  check("memory", residentLate == residentEarly && residentEarly > 0);
  std::printf("%" PRId64 " KiB resident after %" PRId64 " steps, %" PRId64 " KiB after %" PRId64 "\n", residentEarly,
              measuredSteps, residentLate, options.steps);

  if (options.timing) {
    bool holds = compare("as they came", first.medianStepMicroseconds(), last.medianStepMicroseconds());
    for (int again = 0; again < 3 && !holds; ++again)
      holds = compareSideBySide(model, options.start, stream, first, last);
    check("latency", holds);
    std::printf("the medians are within 5 %% of each other\n");
  }
  windowed_encoder_close(model);
  return wrong ? 1 : 0;
}
