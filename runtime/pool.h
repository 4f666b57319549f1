/* The threads behind `options.threads`. Beside the pool itself (burin.h) this is all that the rest of the runtime knows
 * of threads; a runtime without an operating system leaves out pool.c and answers 0 here. */
#ifndef BURIN_POOL_H
#define BURIN_POOL_H

#include "private.h"

/* A pool that is a model's own: its workers, and what ends it. Null where it cannot be had. */
typedef void (*burin_pool_end)(burin_pool *pool);
BURIN_PRIVATE burin_pool *burin_pool_of_model(int32_t threads, const burin_workers **workers, burin_pool_end *end);

#endif
