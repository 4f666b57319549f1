/* Opens model `small` and prints, in hexadecimal, what `forward` and `step` give for a few samples: what every way of
 * linking the model must print as well. C99 and C++11. */
#include "small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 5 };

static float samples[SAMPLES * SMALL_X_FEATURES];

static void require(burin_status status, const char *call, const char *message) {
  if (status == BURIN_OK)
    return;
  fprintf(stderr, "%s: %s (%s)\n", call, burin_status_text(status), message);
  exit(1);
}

/* 64-byte aligned memory, of a program that never ends a loop with it. */
static void *aligned(size_t bytes) {
  char *memory = (char *)malloc(bytes + 63);
  if (!memory)
    exit(1);
  return memory + (64 - (size_t)memory % 64) % 64;
}

static void print(const char *entry, const float *y) {
  int i;
  printf("%s", entry);
  for (i = 0; i < SMALL_Y_FEATURES; ++i)
    printf(" %a", (double)y[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  burin_open_options options;
  burin_model *model = NULL;
  char message[256] = "";
  float y[SMALL_Y_FEATURES];
  size_t scratch_bytes = small_scratch_bytes(SAMPLES);
  void *scratch = aligned(scratch_bytes), *state = aligned(small_state_bytes());
  int i;
  memset(&options, 0, sizeof options);
  options.weights_path = argc > 1 ? argv[1] : "";
  options.message = message;
  options.message_bytes = sizeof message;
  for (i = 0; i < SAMPLES * SMALL_X_FEATURES; ++i)
    samples[i] = (float)(i % 7) * 0.25f - 0.5f;
  require(small_open(&options, &model), "open", message);
  require(small_forward(model, scratch, scratch_bytes, SAMPLES, samples, y), "forward", "");
  print("forward", y);
  require(small_reset(model, state, small_state_bytes()), "reset", "");
  for (i = 0; i < SAMPLES; ++i)
    require(small_step(model, state, scratch, scratch_bytes, samples + i * SMALL_X_FEATURES, y), "step", "");
  print("step", y);
  small_close(model);
  return 0;
}
