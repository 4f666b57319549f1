/* Maps the weights file; weights_file.h. POSIX. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64

#include "weights_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
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

burin_status burin_weights_file_map(burin_weights_file *file, const char *path, burin_message *message) {
  struct stat properties;
  file->memory = NULL;
  file->bytes = 0;
  /* Without O_NONBLOCK a pipe of that name would wait for a writer. */
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fail(message, "cannot open ", path, NULL, errno);
  int error = fstat(descriptor, &properties) != 0 ? errno : 0;
  const char *reason = error == 0 && !S_ISREG(properties.st_mode) ? "it is not a regular file" : NULL;
  if (error == 0 && !reason && (uintmax_t)properties.st_size > SIZE_MAX)
    reason = "it is larger than memory";
  if (error == 0 && !reason && properties.st_size > 0) { /* no mapping has 0 bytes */
    void *memory = mmap(NULL, (size_t)properties.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) {
      error = errno;
    } else {
      file->memory = memory;
      file->bytes = (size_t)properties.st_size;
    }
  }
  close(descriptor);
  return error != 0 || reason ? fail(message, "cannot read ", path, reason, error) : BURIN_OK;
}

void burin_weights_file_unmap(burin_weights_file *file) {
  if (file->memory)
    munmap((void *)(uintptr_t)file->memory, file->bytes);
  file->memory = NULL;
  file->bytes = 0;
}
