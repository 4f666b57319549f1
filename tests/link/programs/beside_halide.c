/* A model and an ordinary Halide library, with Halide's own runtime, in one program: neither sees the other's symbols.
 */
#include "small.h"

#include <stdio.h>
#include <stdlib.h>

#include "neighbour.h" /* Halide's header, with HalideRuntime.h */

int main(int argc, char **argv) {
  burin_open_options options = {0};
  burin_model *model = NULL;
  float x[SMALL_X_FEATURES] = {1, 2, 3}, y[SMALL_Y_FEATURES];
  static char scratch[1 << 16] __attribute__((aligned(64)));
  float values[16];
  halide_dimension_t dimension = {0, 16, 1, 0};
  halide_buffer_t buffer = {0};
  if (argc != 2)
    return 2;
  buffer.host = (uint8_t *)values;
  buffer.type.code = halide_type_float;
  buffer.type.bits = 32;
  buffer.type.lanes = 1;
  buffer.dimensions = 1;
  buffer.dim = &dimension;
  options.weights_path = argv[1];
  if (small_open(&options, &model) != BURIN_OK || neighbour(&buffer) != 0 ||
      small_forward(model, scratch, sizeof scratch, 1, x, y) != BURIN_OK)
    return 1;
  small_close(model);
  printf("neighbour %g, model %a\n", (double)values[5], (double)y[0]);
  return values[5] == 10.0f ? 0 : 1;
}
