/* A safetensors file in memory: an 8-byte length, a JSON header that names tensors, and their bytes.
 *
 * Nothing in the file is trusted: every number is checked against what is there, and memory taken while reading is a
 * small multiple of the header. The format's own rules are held to: names are unique, and tensors fill the data without
 * gap or overlap. What the format leaves open is refused where it could only hide a mistake.
 */
#ifndef BURIN_SAFETENSORS_H
#define BURIN_SAFETENSORS_H

#include "message.h"

enum { BURIN_MAX_RANK = 8 };

typedef struct burin_file_tensor {
  const char *name; /* decoded; not null-terminated */
  size_t name_length;
  const char *type; /* "F32", "BF16", … */
  int32_t rank;
  int32_t matched; /* for whoever compares names: 0 at first */
  int64_t shape[BURIN_MAX_RANK];
  int64_t begin, end; /* bytes in the data */
} burin_file_tensor;

typedef struct burin_safetensors {
  burin_file_tensor *tensors; /* in order of their names */
  size_t count;
  const unsigned char *data;
  char *names;
} burin_safetensors;

/* Reads the header of the `bytes` at `file`, which stay in use until burin_safetensors_free. On failure `message` says
 * what is wrong, and there is nothing to free. */
BURIN_PRIVATE burin_status burin_safetensors_read(burin_safetensors *file, const void *memory, size_t bytes,
                                                  burin_message *message);
BURIN_PRIVATE void burin_safetensors_free(burin_safetensors *file);
/* The tensor of that name, or null. */
BURIN_PRIVATE burin_file_tensor *burin_safetensors_find(const burin_safetensors *file, const char *name);

#endif
