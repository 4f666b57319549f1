// A robot's joints ask its camera while something presses against the gripper; how long each part takes.
//
//     build/bin/two_streams WEIGHTS.safetensors [EPISODES]
//
// An episode is 2.2 seconds: 500 samples a second from the joints, of which each has its torques, and 30 frames a
// second from the camera. The clock is simulated, so every run computes the same. The program checks what comes out
// against `forward`, treats the state as the value that it is (copies it, saves it, loads it), and measures.
#include "grasp.h" // generated from graph.cpp

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int ticks = GRASP_JOINTS_MAX; // one every 2 ms
constexpr float threshold = 0.5f;       // of the graph's gate
constexpr int readings = GRASP_READINGS_FEATURES, pixels = GRASP_FRAMES_FEATURES;
using Torques = std::array<float, GRASP_TORQUES_FEATURES>;

void require(burin_status status, const char *message = "") {
  if (status == BURIN_OK)
    return;
  std::fprintf(stderr, "two_streams: error: %s%s%s\n", burin_status_text(status), *message ? ": " : "", message);
  std::exit(1);
}

/// Memory for a scratch arena or a state, aligned as burin.h asks. A copy of a state is a state.
struct alignas(64) Block {
  unsigned char bytes[64];
};
using Memory = std::vector<Block>;
Memory memoryOf(size_t bytes) { return Memory((bytes + sizeof(Block) - 1) / sizeof(Block)); }
size_t bytesOf(const Memory &memory) { return memory.size() * sizeof(Block); }

// ---- The robot's sensors, simulated.

struct Sensors {
  std::vector<float> joints; // [ticks, readings]
  std::vector<float> force;  // [ticks, 1]: presses for a third of every 0.36 s, at the start too
  std::vector<float> camera; // [GRASP_CAMERA_MAX + 1, pixels]: one more frame than there is room for

  Sensors() {
    for (int tick = 0; tick < ticks; ++tick) {
      force.push_back(std::sin(float(tick + 20) * 0.0349f));
      for (int reading = 0; reading < readings; ++reading)
        joints.push_back(std::sin(float(tick) * 0.01f * float(reading + 1)));
    }
    for (int frame = 0; frame <= GRASP_CAMERA_MAX; ++frame)
      for (int pixel = 0; pixel < pixels; ++pixel)
        camera.push_back(std::cos(float(frame) * 0.1f * float(pixel + 1)));
  }

  const float *frame(int64_t index) const { return &camera[size_t(index * pixels)]; }
  /// Frames that the camera has given when a tick begins, as long as there is room for them.
  static int64_t framesBy(int64_t tick) { return std::min<int64_t>(tick * 30 / 500, GRASP_CAMERA_MAX); }
};

// ---- The model, with a stopwatch around each call.

using Clock = std::chrono::steady_clock;

struct Latencies {
  std::vector<double> append, closed, open; // microseconds
};

class Grasp {
public:
  explicit Grasp(const char *weightsPath) : scratch_(memoryOf(grasp_scratch_bytes(ticks, GRASP_CAMERA_MAX))) {
    char message[512] = "";
    burin_open_options options = {};
    options.weights_path = weightsPath;
    options.message = message;
    options.message_bytes = sizeof message;
    require(grasp_open(&options, &model_), message);
  }
  ~Grasp() { grasp_close(model_); }
  Grasp(const Grasp &) = delete;
  Grasp &operator=(const Grasp &) = delete;

  Memory newState() const {
    Memory state = memoryOf(grasp_state_bytes());
    require(grasp_reset(model_, state.data(), bytesOf(state)));
    return state;
  }

  burin_status append(Memory &state, const float *frame) {
    auto begin = Clock::now();
    burin_status status = grasp_append_camera(model_, state.data(), scratch_.data(), bytesOf(scratch_), 1, frame);
    latencies.append.push_back(since(begin));
    return status;
  }

  Torques step(Memory &state, const float *joints, float force) {
    Torques torques;
    auto begin = Clock::now();
    burin_status status =
        grasp_step(model_, state.data(), scratch_.data(), bytesOf(scratch_), joints, &force, torques.data());
    (force > threshold ? latencies.open : latencies.closed).push_back(since(begin));
    require(status);
    return torques;
  }

  /// Goes on with the episode, from wherever the state is in it until just before tick `end`. Returns the last torques.
  Torques play(Memory &state, const Sensors &sensors, int64_t end) {
    Torques torques = {};
    for (int64_t tick = burin_state_position(state.data()); tick < end; ++tick) {
      while (framesIn(state) < Sensors::framesBy(tick))
        require(append(state, sensors.frame(framesIn(state))));
      torques = step(state, &sensors.joints[size_t(tick * readings)], sensors.force[size_t(tick)]);
    }
    return torques;
  }

  /// The torques of the last of `joints` samples, all of them and `frames` frames given at once, without a state.
  Torques forward(const Sensors &sensors, int64_t joints, int64_t frames) {
    std::vector<Torques> torques(static_cast<size_t>(joints));
    require(grasp_forward(model_, scratch_.data(), bytesOf(scratch_), joints, frames, sensors.joints.data(),
                          sensors.force.data(), sensors.camera.data(), torques[0].data()));
    return torques.back();
  }

  /// The same by a state that takes a whole history in two calls: how to start with one.
  Torques catchUp(Memory &state, const Sensors &sensors, int64_t joints, int64_t frames) {
    std::vector<Torques> torques(static_cast<size_t>(joints));
    require(grasp_append_camera(model_, state.data(), scratch_.data(), bytesOf(scratch_), frames, sensors.frame(0)));
    require(grasp_advance(model_, state.data(), scratch_.data(), bytesOf(scratch_), joints, sensors.joints.data(),
                          sensors.force.data(), torques[0].data()));
    return torques.back();
  }

  std::vector<unsigned char> save(const Memory &state) const {
    size_t bytes = 0;
    require(grasp_state_save(model_, state.data(), nullptr, 0, &bytes));
    std::vector<unsigned char> saved(bytes);
    require(grasp_state_save(model_, state.data(), saved.data(), saved.size(), &bytes));
    return saved;
  }

  Memory load(const std::vector<unsigned char> &saved) const {
    Memory state = memoryOf(grasp_state_bytes());
    require(grasp_state_load(model_, state.data(), bytesOf(state), saved.data(), saved.size()));
    return state;
  }

  static int64_t framesIn(const Memory &state) {
    return burin_state_stream_position(state.data(), GRASP_CAMERA_STREAM);
  }

  Latencies latencies;

private:
  static double since(Clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  }

  burin_model *model_ = nullptr;
  Memory scratch_;
};

// ---- Checks and the table

int wrong = 0;

void check(const char *what, bool holds) {
  std::printf("  %-5s %s\n", holds ? "ok" : "WRONG", what);
  wrong += !holds;
}

void checkClose(const char *what, const Torques &got, const Torques &expected) {
  double largest = 0, difference = 0;
  for (float value : expected)
    largest = std::max(largest, std::fabs(double(value)));
  bool holds = true;
  for (size_t i = 0; i < got.size(); ++i) {
    double apart = std::fabs(double(got[i]) - double(expected[i]));
    holds &= apart <= 1e-5 * largest; // false for what is not a number
    difference = std::max(difference, apart);
  }
  std::printf("  %-5s %-50s largest difference %.1e\n", holds ? "ok" : "WRONG", what, difference);
  wrong += !holds;
}

bool equalBits(const Torques &a, const Torques &b) { return std::memcmp(a.data(), b.data(), sizeof a) == 0; }

void printLatencies(const char *what, std::vector<double> &values) {
  std::sort(values.begin(), values.end());
  auto percentile = [&](double percent) { return values[size_t(double(values.size() - 1) * percent / 100)]; };
  std::printf("  %-24s %8zu %9.2f %9.2f %9.2f\n", what, values.size(), values[0], percentile(50), percentile(99));
}

} // namespace

int main(int argc, char **argv) {
  long episodes = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 60;
  if (argc < 2 || argc > 3 || episodes < 1 || episodes > 100000) {
    std::fprintf(stderr, "usage: two_streams WEIGHTS.safetensors [EPISODES]\n");
    return 2;
  }
  Grasp grasp(argv[1]);
  Sensors sensors;
  std::printf("a state of %zu bytes; an episode is %d samples of the joints and %d frames\n\n", grasp_state_bytes(),
              ticks, GRASP_CAMERA_MAX);

  std::printf("one episode, sample by sample, against forward on what came so far\n");
  Memory state = grasp.newState(), atTick300;
  Torques torques;
  for (int tick : {10, 50, 300, 400, 900, ticks - 1}) {
    torques = grasp.play(state, sensors, tick + 1);
    char what[80];
    std::snprintf(what, sizeof what, "tick %4d, gate %-6s, %2d frames", tick,
                  sensors.force[size_t(tick)] > threshold ? "open" : "closed", int(grasp.framesIn(state)));
    checkClose(what, torques, grasp.forward(sensors, tick + 1, grasp.framesIn(state)));
    if (tick == 300)
      atTick300 = state;
  }
  Memory caughtUp = grasp.newState();
  checkClose("all frames in one call, all samples in one more",
             grasp.catchUp(caughtUp, sensors, ticks, GRASP_CAMERA_MAX), torques);

  std::printf("\ntwo branches of the state at tick 300, which see different frames next\n");
  Memory here = atTick300, there = atTick300;
  require(grasp.append(here, sensors.frame(20)));
  require(grasp.append(there, sensors.frame(60)));
  const float *joints = &sensors.joints[301 * readings];
  check("gate closed: the same torques, bit for bit",
        equalBits(grasp.step(here, joints, threshold), grasp.step(there, joints, threshold)));
  check("gate open: others",
        !equalBits(grasp.step(here, joints, 2 * threshold), grasp.step(there, joints, 2 * threshold)));

  std::vector<unsigned char> saved = grasp.save(atTick300);
  Memory loaded = grasp.load(saved);
  std::printf("\nthe state at tick 300, saved in %zu bytes and loaded into other memory\n", saved.size());
  check("ends the episode as the first state did, bit for bit", equalBits(grasp.play(loaded, sensors, ticks), torques));

  std::printf("\none more frame than there is room for\n");
  Memory before = state;
  check("is refused: BURIN_STATE_FULL", grasp.append(state, sensors.frame(GRASP_CAMERA_MAX)) == BURIN_STATE_FULL);
  check("and leaves the state as it was", std::memcmp(state.data(), before.data(), bytesOf(state)) == 0);

  // Everything so far has brought code and weights into the caches.
  grasp.latencies = {};
  bool same = true;
  for (long episode = 0; episode < episodes; ++episode) {
    state = grasp.newState();
    same &= equalBits(grasp.play(state, sensors, ticks), torques);
  }
  std::printf("\n%ld more episodes\n", episodes);
  check("end as the first did, bit for bit", same);
  std::printf("\n  %-24s %8s %9s %9s %9s\n", "latency, microseconds", "calls", "min", "median", "p99");
  printLatencies("append a camera frame", grasp.latencies.append);
  printLatencies("step, gate closed", grasp.latencies.closed);
  printLatencies("step, gate open", grasp.latencies.open);
  return wrong ? 1 : 0;
}
