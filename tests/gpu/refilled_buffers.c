/* A program that links a model for a GPU as any program does. The same host buffers, refilled in place, give new
 * results: nothing of an earlier call is taken for this one's. Ends with 77 where there is no device. */
#include "scaled_dot_product_attention.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES = 3, KEYS = 5, KEY_WIDTH = 4, VALUE_WIDTH = 6, RESULTS = QUERIES * VALUE_WIDTH };

static float q[QUERIES * KEY_WIDTH], k[KEYS * KEY_WIDTH], v[KEYS * VALUE_WIDTH], y[RESULTS];

static void fill(float first) {
  for (int i = 0; i < QUERIES * KEY_WIDTH; ++i)
    q[i] = first + 0.25f * (float)i;
  for (int i = 0; i < KEYS * KEY_WIDTH; ++i)
    k[i] = first - 0.125f * (float)i;
  for (int i = 0; i < KEYS * VALUE_WIDTH; ++i)
    v[i] = first * (float)(i + 1);
}

int main(void) {
  char message[256] = "";
  burin_open_options options = {0};
  burin_model *model = NULL;
  options.message = message;
  options.message_bytes = sizeof message;
  burin_status status = scaled_dot_product_attention_open(&options, &model);
  if (status == BURIN_CPU_UNSUPPORTED) {
    printf("SKIPPED: %s\n", message);
    return 77;
  }
  size_t bytes = scaled_dot_product_attention_scratch_bytes(QUERIES, KEYS);
  void *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
  float results[3][RESULTS];
  const float first[3] = {0.5f, -1.5f, 0.5f};
  for (int round = 0; round < 3 && status == BURIN_OK; ++round) {
    fill(first[round]);
    memset(y, 0, sizeof y);
    status = scaled_dot_product_attention_forward(model, scratch, bytes, QUERIES, KEYS, q, k, v, y);
    memcpy(results[round], y, sizeof y);
  }
  scaled_dot_product_attention_close(model);
  free(scratch);
  if (status != BURIN_OK) {
    printf("%s %s\n", burin_status_text(status), message);
    return 1;
  }
  for (int i = 0; i < RESULTS; ++i)
    if (results[0][i] != results[2][i] || results[0][i] == results[1][i] || !(results[0][i] > 0) ||
        !(results[1][i] < 0)) {
      printf("value %d: %g with the first inputs, %g with others, %g with the first again\n", i, (double)results[0][i],
             (double)results[1][i], (double)results[2][i]);
      return 1;
    }
  return 0;
}
