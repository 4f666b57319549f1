// The same without exceptions: statuses are values.
#include "burin.hpp"
#include "small.h"
#include <cstdio>
#include <string>

static int fail(burin_status status, const std::string &message) {
  std::fprintf(stderr, "status %d: %s\n", status, message.c_str());
  return 1;
}

static void print(const char *entry, const float (&y)[SMALL_Y_FEATURES]) {
  std::printf("%s", entry);
  for (float value : y)
    std::printf(" %a", double(value));
  std::printf("\n");
}

int main(int argc, char **argv) {
  constexpr int samples = 5;
  float x[samples][SMALL_X_FEATURES], y[SMALL_Y_FEATURES];
  for (int i = 0; i < samples * SMALL_X_FEATURES; ++i)
    x[i / SMALL_X_FEATURES][i % SMALL_X_FEATURES] = float(i % 7) * 0.25f - 0.5f;
  burin::Model model;
  std::string message;
  burin_status status = burin::Model::try_open(small_open, small_close,
                                               burin::weights_from_file(argc > 1 ? argv[1] : ""), model, &message);
  if (status != BURIN_OK)
    return fail(status, message);
  burin::Scratch scratch(small_scratch_bytes(samples));
  burin::State state(small_state_bytes());
  status = burin::try_call(small_forward, model, scratch, samples, x[0], y);
  if (status != BURIN_OK)
    return fail(status, "forward");
  print("forward", y);
  status = state.try_reset(model, small_reset);
  for (int i = 0; i < samples && status == BURIN_OK; ++i)
    status = burin::try_call(small_step, model, state, scratch, x[i], y);
  if (status != BURIN_OK)
    return fail(status, "step");
  print("step", y);
}
