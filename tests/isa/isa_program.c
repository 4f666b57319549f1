/* What a processor makes of an object for several targets: prints which one was chosen and, as bits, what forward and a
 * stream of steps give; or the status and the sentence with which opening fails. Linked statically, so that an emulator
 * needs nothing but this file.
 *
 *     isa_program WEIGHTS [ISA]
 */
#include "isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, SCRATCH_BYTES = 1 << 20 };

static void print_bits(const char *name, const float *values, size_t count) {
  printf("%s", name);
  for (size_t i = 0; i < count; ++i) {
    unsigned bits;
    memcpy(&bits, &values[i], sizeof bits);
    printf(" %08x", bits);
  }
  printf("\n");
}

static int failed(const char *call, burin_status status, const char *message) {
  printf("%s: status %d: %s\n", call, (int)status, *message ? message : burin_status_text(status));
  return 1;
}

int main(int argc, char **argv) {
  static float x[ROWS][ISA_X_FEATURES], forward[ROWS][ISA_Y_FEATURES], step[ROWS][ISA_Y_FEATURES];
  char message[512] = "";
  burin_open_options options = {0};
  burin_model *model = NULL;
  if (argc < 2)
    return 2;
  options.weights_path = argv[1];
  options.isa = argc > 2 ? argv[2] : NULL;
  options.message = message;
  options.message_bytes = sizeof message;
  burin_status status = isa_open(&options, &model);
  if (status != BURIN_OK)
    return failed("open", status, message);
  printf("isa %s\n", burin_model_isa(model));

  for (int row = 0; row < ROWS; ++row)
    for (int i = 0; i < ISA_X_FEATURES; ++i)
      x[row][i] = (float)((row * 7 + i * 5) % 13) / 4.0f - 1.5f;
  size_t state_bytes = (isa_state_bytes() + 63) / 64 * 64;
  void *scratch = aligned_alloc(64, SCRATCH_BYTES), *state = aligned_alloc(64, state_bytes);
  if (!scratch || !state || isa_scratch_bytes(ROWS) > SCRATCH_BYTES)
    return 2;
  status = isa_forward(model, scratch, SCRATCH_BYTES, ROWS, &x[0][0], &forward[0][0]);
  if (status != BURIN_OK)
    return failed("forward", status, "");
  print_bits("forward", &forward[0][0], sizeof forward / sizeof(float));
  status = isa_reset(model, state, state_bytes);
  for (int row = 0; row < ROWS && status == BURIN_OK; ++row)
    status = isa_step(model, state, scratch, SCRATCH_BYTES, x[row], step[row]);
  if (status != BURIN_OK)
    return failed("step", status, "");
  print_bits("step", &step[0][0], sizeof step / sizeof(float));
  isa_close(model);
  free(state);
  free(scratch);
  return 0;
}
