/* Opens a model from the program's own bytes, allocating nothing: prints what the three rows of W are. */
#include "whole_weights.h"

#include <stdio.h>

int main(void) {
  static unsigned char memory[BURIN_MODEL_BYTES] __attribute__((aligned(64)));
  static unsigned char scratch[1 << 12] __attribute__((aligned(64)));
  static const float identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  float y[6];
  burin_model *model = NULL;
  burin_open_options options = whole_weights();
  options.memory = memory;
  options.memory_bytes = sizeof memory;
  if (whole_open(&options, &model) != BURIN_OK ||
      whole_forward(model, scratch, sizeof scratch, 3, identity, y) != BURIN_OK)
    return 1;
  printf("%g %g %g %g %g %g\n", (double)y[0], (double)y[1], (double)y[2], (double)y[3], (double)y[4], (double)y[5]);
  whole_close(model);
  return 0;
}
