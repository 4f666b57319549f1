/* The bytes of a file, mapped read-only. */
#ifndef BURIN_WEIGHTS_FILE_H
#define BURIN_WEIGHTS_FILE_H

#include "message.h"

typedef struct burin_weights_file {
  const void *memory;
  size_t bytes;
} burin_weights_file;

BURIN_PRIVATE burin_status burin_weights_file_map(burin_weights_file *file, const char *path, burin_message *message);
BURIN_PRIVATE void burin_weights_file_unmap(burin_weights_file *file);

#endif
