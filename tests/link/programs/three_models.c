/* Three models in one program: each has its own plan, weights and fingerprint, and a model is refused by another's
 * functions. */
#include "one.h"
#include "three.h"
#include "two.h"

#include <stdio.h>
#include <stdlib.h>

static void require(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

int main(int argc, char **argv) {
  burin_open_options options = {0};
  burin_model *one = NULL, *two = NULL, *three = NULL;
  float x[3] = {1, 2, 3}, y[8], same[8];
  static char scratch[1 << 16] __attribute__((aligned(64)));
  require(argc == 4, "usage: three_models WEIGHTS WEIGHTS WEIGHTS");
  options.weights_path = argv[1];
  require(one_open(&options, &one) == BURIN_OK, "opening one");
  options.weights_path = argv[2];
  require(two_open(&options, &two) == BURIN_OK, "opening two");
  options.weights_path = argv[3];
  require(three_open(&options, &three) == BURIN_OK, "opening three");
  require(one_forward(one, scratch, sizeof scratch, 1, x, y) == BURIN_OK, "one");
  require(two_forward(two, scratch, sizeof scratch, 1, x, same) == BURIN_OK, "two");
  require(y[0] != same[0], "different weights, different outputs");
  require(three_forward(three, scratch, sizeof scratch, 1, x, same) == BURIN_OK, "three");
  require(one_forward(one, scratch, sizeof scratch, 1, x, same) == BURIN_OK, "one again");
  for (int i = 0; i < 8; ++i)
    require(y[i] == same[i], "one gives again what it gave");
  require(one_forward(two, scratch, sizeof scratch, 1, x, y) == BURIN_WEIGHTS_MISMATCH, "refusing another's model");
  one_close(one);
  two_close(two);
  three_close(three);
  puts("three models");
  return 0;
}
