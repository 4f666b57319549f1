/* What the files that open a model share: the opened model, and where it lies.
 *
 * open.c has no file, no heap and no lock in it: what needs an operating system stands behind heap.h, pages.h,
 * weights_file.h and burin_open_safetensors, and is linked in one of two forms: the files of these names, or bare.c,
 * which refuses each with a sentence. Rejected: #ifdef in open.c, which would be tested in one form and shipped in two;
 * and functions that a program may set, which a program could forget.
 */
#ifndef BURIN_OPEN_H
#define BURIN_OPEN_H

#include "message.h"
#include "weights_file.h"

typedef struct burin_opened_model {
  burin_model model;       /* first, so that a model's address is this one's */
  void *block;             /* of the heap, in which all this lies; null where it lies in memory of the caller */
  burin_weights_file file; /* mapped as long as the model is open, or empty */
  size_t locked_bytes;     /* of the weights */
} burin_opened_model;
typedef char burin_model_bytes_are_enough[sizeof(burin_opened_model) <= BURIN_MODEL_BYTES ? 1 : -1];

/* A model, and zeros for `weights_bytes` of weights behind it: in options->memory, or of the heap. */
BURIN_PRIVATE burin_status burin_make_model(const burin_plan *plan, const burin_open_options *options,
                                            size_t weights_bytes, burin_opened_model **opened, burin_message *message);

/* The weights of a model that burin_make_model made, before anyone else sees them. */
static inline unsigned char *burin_writable_weights(burin_opened_model *opened) {
  return (unsigned char *)(uintptr_t)opened->model.weights;
}

/* Weights that are no packed file: read as safetensors and packed into a new model. */
BURIN_PRIVATE burin_status burin_open_safetensors(const burin_plan *plan, const burin_open_options *options,
                                                  const void *memory, size_t bytes, burin_opened_model **opened,
                                                  burin_message *message);

#endif
