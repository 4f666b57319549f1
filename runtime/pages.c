/* Pages of memory, by POSIX; pages.h. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1 /* RLIMIT_MEMLOCK and MADV_HUGEPAGE, where the system has them */

#include "pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

size_t burin_page_bytes(void) {
  long bytes = sysconf(_SC_PAGESIZE);
  return bytes > 0 ? (size_t)bytes : 4096;
}

void burin_pages_prefer_large(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  const size_t large = (size_t)2 << 20; /* of x86-64, and of ARM with pages of 4 KB */
  size_t page = burin_page_bytes(), before = (page - ((uintptr_t)memory & (page - 1))) & (page - 1);
  if (bytes >= 2 * large)
    (void)madvise((unsigned char *)memory + before, (bytes - before) / page * page, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

void burin_pages_prefault(const void *memory, size_t bytes) {
  const volatile unsigned char *bytes_of = (const volatile unsigned char *)memory;
  size_t page = burin_page_bytes();
  for (size_t place = 0; place < bytes; place += page)
    (void)bytes_of[place];
  if (bytes > 0)
    (void)bytes_of[bytes - 1];
}

burin_status burin_pages_lock(const void *memory, size_t bytes, burin_message *message) {
  if (bytes == 0 || mlock(memory, bytes) == 0)
    return BURIN_OK;
  char text[128];
  int error = errno;
  burin_message_number(message, bytes);
  burin_message_text(message, " bytes of weights cannot be locked in memory: ");
  burin_message_text(message, strerror_r(error, text, sizeof text) == 0 ? text : "unknown error");
#ifdef RLIMIT_MEMLOCK
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    burin_message_text(message, "; this process may lock ");
    burin_message_number(message, limit.rlim_cur);
    burin_message_text(message, " in all (RLIMIT_MEMLOCK)");
  }
#endif
  return BURIN_MEMORY_NOT_LOCKED;
}

void burin_pages_unlock(const void *memory, size_t bytes) {
  if (bytes > 0)
    munlock(memory, bytes);
}
