/* What is asked of the operating system about pages of memory: their size, to bring them in, to keep them there. */
#ifndef BURIN_PAGES_H
#define BURIN_PAGES_H

#include "message.h"

BURIN_PRIVATE size_t burin_page_bytes(void);
/* Asks for large pages where these are many: who runs through megabytes of weights at each call waits a few percent less
 * for the tables of small ones. A system that has none goes on with what it has. */
BURIN_PRIVATE void burin_pages_prefer_large(void *memory, size_t bytes);
/* Reads a byte of every page, so that no later read waits for one. */
BURIN_PRIVATE void burin_pages_prefault(const void *memory, size_t bytes);
/* Brings the pages in and keeps them in memory. Locks do not nest, so nobody else may have locked any of these pages.
 */
BURIN_PRIVATE burin_status burin_pages_lock(const void *memory, size_t bytes, burin_message *message);
BURIN_PRIVATE void burin_pages_unlock(const void *memory, size_t bytes);

#endif
