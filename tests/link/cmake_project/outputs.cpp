// What programs/outputs.c prints, by way of burin.hpp.
#include "burin.hpp"
#include "small.h"
#include <array>
#include <cstdio>
#include <vector>

static void print(const char *entry, const std::vector<float> &y) {
  std::printf("%s", entry);
  for (float value : y)
    std::printf(" %a", double(value));
  std::printf("\n");
}

int main(int argc, char **argv) {
  constexpr int samples = 5;
  std::array<float, samples * SMALL_X_FEATURES> x;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 7) * 0.25f - 0.5f;
  std::vector<float> y(SMALL_Y_FEATURES);
  try {
    burin::Model model(small_open, small_close, burin::weights_from_file(argc > 1 ? argv[1] : ""));
    burin::Scratch scratch(small_scratch_bytes(samples));
    burin::call(small_forward, model, scratch, samples, x, y);
    print("forward", y);
    burin::State state(model, small_state_bytes(), small_reset);
    for (std::span<float> sample = x; !sample.empty(); sample = sample.subspan(SMALL_X_FEATURES))
      burin::call(small_step, model, state, scratch, sample.first(SMALL_X_FEATURES), y);
    print("step", y);
    if (state.position() != samples)
      return 2;

    burin::Model taken = std::move(model);
    if (model || !taken || burin::try_call(small_step, model, state, scratch, x, y) != BURIN_NULL_POINTER ||
        burin::try_call(small_step, taken, state, scratch, x, y) != BURIN_OK)
      return 3;
  } catch (const burin::Error &error) {
    std::fprintf(stderr, "status %d: %s\n", error.status(), error.what());
    return 1;
  }
}
