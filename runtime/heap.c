/* The C library's heap; heap.h. */
#include "heap.h"
#include "pages.h"

#include <stdlib.h>

burin_status burin_heap_allocate(void **block, size_t weights_bytes, size_t other_bytes, burin_message *message) {
  size_t bytes = burin_size_add(weights_bytes, other_bytes);
  *block = bytes == SIZE_MAX ? NULL : calloc(1, bytes);
  if (*block) {
    burin_pages_prefer_large(*block, bytes); /* before anything is written */
    return BURIN_OK;
  }
  burin_message_number(message, weights_bytes);
  burin_message_text(message, " bytes for the packed weights could not be allocated");
  return BURIN_OUT_OF_MEMORY;
}

void burin_heap_free(void *block) { free(block); }
