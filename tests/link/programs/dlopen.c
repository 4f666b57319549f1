/* What outputs.c prints, from a shared model that is found while running: dlopen MODEL.so WEIGHTS. With a third
 * argument, as well from the model that is linked into the program: the two know nothing of one another. */
#include "small.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 5 };

typedef struct functions {
  burin_status (*open)(const burin_open_options *, burin_model **);
  void (*close)(burin_model *);
  size_t (*scratch_bytes)(int64_t);
  size_t (*state_bytes)(void);
  burin_status (*forward)(const burin_model *, void *, size_t, int64_t, const float *, float *);
  burin_status (*reset)(const burin_model *, void *, size_t);
  burin_status (*step)(const burin_model *, void *, void *, size_t, const float *, float *);
} functions;

static void require(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

/* POSIX promises that a function's address fits; ISO C has no conversion. */
#define FIND(library, function, name) (*(void **)&(function) = dlsym(library, name))

static functions of_library(const char *path) {
  functions found;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  require(library != NULL, "dlopen");
  FIND(library, found.open, "small_open");
  FIND(library, found.close, "small_close");
  FIND(library, found.scratch_bytes, "small_scratch_bytes");
  FIND(library, found.state_bytes, "small_state_bytes");
  FIND(library, found.forward, "small_forward");
  FIND(library, found.reset, "small_reset");
  FIND(library, found.step, "small_step");
  require(found.open && found.close && found.scratch_bytes && found.state_bytes && found.forward && found.reset &&
              found.step,
          "dlsym");
  return found;
}

static void *aligned(size_t bytes) {
  char *memory = malloc(bytes + 63);
  require(memory != NULL, "malloc");
  return memory + (64 - (size_t)memory % 64) % 64;
}

static void print(const char *entry, const float *y) {
  printf("%s", entry);
  for (int i = 0; i < SMALL_Y_FEATURES; ++i)
    printf(" %a", (double)y[i]);
  printf("\n");
}

static void run(functions small, const char *weights) {
  burin_open_options options = {0};
  burin_model *model = NULL;
  float samples[SAMPLES * SMALL_X_FEATURES], y[SMALL_Y_FEATURES];
  size_t scratch_bytes = small.scratch_bytes(SAMPLES);
  void *scratch = aligned(scratch_bytes), *state = aligned(small.state_bytes());
  for (int i = 0; i < SAMPLES * SMALL_X_FEATURES; ++i)
    samples[i] = (float)(i % 7) * 0.25f - 0.5f;
  options.weights_path = weights;
  require(small.open(&options, &model) == BURIN_OK, "open");
  require(small.forward(model, scratch, scratch_bytes, SAMPLES, samples, y) == BURIN_OK, "forward");
  print("forward", y);
  require(small.reset(model, state, small.state_bytes()) == BURIN_OK, "reset");
  for (int i = 0; i < SAMPLES; ++i)
    require(small.step(model, state, scratch, scratch_bytes, samples + i * SMALL_X_FEATURES, y) == BURIN_OK, "step");
  print("step", y);
  small.close(model);
}

int main(int argc, char **argv) {
  require(argc > 2, "usage: dlopen MODEL.so WEIGHTS");
  run(of_library(argv[1]), argv[2]);
#ifdef LINKED
  run((functions){small_open, small_close, small_scratch_bytes, small_state_bytes, small_forward, small_reset,
                  small_step},
      argv[2]);
#endif
  return 0;
}
