/* What opening asks of an operating system, where it is WASI: files can be read and not mapped, pages cannot be locked,
 * and there are no threads. Linked in place of pages.c, pool.c and weights_file.c; pack_file.c is left out, as weights
 * are packed where the model is compiled.
 *
 * Rejected: wasi-libc's emulated mmap. It copies as well, and to memory that is not aligned as packed weights have to
 * be.
 */
#define _POSIX_C_SOURCE 200809L

#include "pages.h"
#include "pool.h"
#include "weights_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static burin_status fail(burin_message *message, const char *verb, const char *path, const char *reason, int error) {
  char text[128];
  burin_message_text(message, verb);
  burin_message_name(message, path, strlen(path));
  burin_message_text(message, ": ");
  burin_message_text(message, reason ? reason : strerror_r(error, text, sizeof text) == 0 ? text : "unknown error");
  return BURIN_FILE_UNREADABLE;
}

/* Reads exactly `bytes`; NULL, or why not. */
static const char *read_all(int descriptor, unsigned char *memory, size_t bytes, int *error) {
  for (size_t done = 0; done < bytes;) {
    ssize_t now = read(descriptor, memory + done, bytes - done);
    if (now == 0)
      return "it ends before its size";
    if (now < 0 && errno != EINTR) {
      *error = errno;
      return NULL;
    }
    done += now > 0 ? (size_t)now : 0;
  }
  return NULL;
}

burin_status burin_weights_file_map(burin_weights_file *file, const char *path, burin_message *message) {
  struct stat properties;
  file->memory = NULL;
  file->bytes = 0;
  int descriptor = open(path, O_RDONLY);
  if (descriptor < 0)
    return fail(message, "cannot open ", path, NULL, errno);
  int error = fstat(descriptor, &properties) != 0 ? errno : 0;
  const char *reason = error == 0 && !S_ISREG(properties.st_mode) ? "it is not a regular file" : NULL;
  if (error == 0 && !reason && (uintmax_t)properties.st_size > SIZE_MAX)
    reason = "it is larger than memory";
  void *memory = NULL;
  if (error == 0 && !reason && properties.st_size > 0) {
    error = posix_memalign(&memory, BURIN_BLOCK_ALIGNMENT, (size_t)properties.st_size);
    if (error == 0)
      reason = read_all(descriptor, (unsigned char *)memory, (size_t)properties.st_size, &error);
  }
  close(descriptor);
  if (error != 0 || reason) {
    free(memory);
    return fail(message, "cannot read ", path, reason, error);
  }
  file->memory = memory;
  file->bytes = memory ? (size_t)properties.st_size : 0;
  return BURIN_OK;
}

void burin_weights_file_unmap(burin_weights_file *file) {
  free((void *)(uintptr_t)file->memory);
  file->memory = NULL;
  file->bytes = 0;
}

/* Memory has no pages that could be absent. */
size_t burin_page_bytes(void) { return BURIN_BLOCK_ALIGNMENT; }

void burin_pages_prefer_large(void *memory, size_t bytes) { (void)memory, (void)bytes; }

void burin_pages_prefault(const void *memory, size_t bytes) { (void)memory, (void)bytes; }

burin_status burin_pages_lock(const void *memory, size_t bytes, burin_message *message) {
  (void)memory, (void)bytes;
  burin_message_text(message, "WASI cannot lock pages of memory: `lock_memory` is set");
  return BURIN_MEMORY_NOT_LOCKED;
}

void burin_pages_unlock(const void *memory, size_t bytes) { (void)memory, (void)bytes; }

burin_pool *burin_pool_create(int32_t threads, const burin_pool_options *options) {
  (void)threads, (void)options;
  return NULL;
}

const burin_workers *burin_pool_workers(const burin_pool *pool) {
  (void)pool;
  return NULL;
}

void burin_pool_destroy(burin_pool *pool) { (void)pool; }

burin_pool *burin_pool_of_model(int32_t threads, const burin_workers **workers, burin_pool_end *end) {
  (void)threads, (void)workers, (void)end;
  return NULL;
}
