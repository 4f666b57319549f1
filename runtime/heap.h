/* Where a model lies that is given no memory. */
#ifndef BURIN_HEAP_H
#define BURIN_HEAP_H

#include "message.h"

/* Zeros: room for `weights_bytes` of weights and `other_bytes` besides. */
BURIN_PRIVATE burin_status burin_heap_allocate(void **block, size_t weights_bytes, size_t other_bytes,
                                               burin_message *message);
BURIN_PRIVATE void burin_heap_free(void *block);

#endif
