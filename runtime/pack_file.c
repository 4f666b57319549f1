/* Packed files made and checked ahead of time, by `burin pack`. Only what calls this links it: a program that opens
 * models writes no files. POSIX.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64

#include "hash.h"
#include "message.h"
#include "packed_file.h"
#include "weights_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is hashed or written between two reports: a whole number of the hash's stripes. */
#define PIECE_BYTES ((size_t)4 << 20)

static void report(const burin_rt_progress *progress, const char *what, size_t done, size_t total) {
  if (progress && progress->report)
    progress->report(progress->context, what, (int64_t)done, (int64_t)total);
}

static uint64_t content_of(const unsigned char *weights, size_t bytes, const burin_rt_progress *progress,
                           const char *what) {
  burin_hasher hasher;
  size_t done = 0;
  burin_hash_start(&hasher, 0);
  for (; bytes - done > PIECE_BYTES; done += PIECE_BYTES) {
    report(progress, what, done, bytes);
    burin_hash_add(&hasher, weights + done, PIECE_BYTES);
  }
  return burin_hash_finish(&hasher, weights + done, bytes - done);
}

static burin_status fail(burin_message *message, const char *path, const char *reason) {
  burin_message_text(message, "cannot write ");
  burin_message_name(message, path, strlen(path));
  burin_message_text(message, ": ");
  burin_message_text(message, reason);
  return BURIN_FILE_UNREADABLE;
}

static int write_all(int descriptor, const unsigned char *memory, size_t bytes, const burin_rt_progress *progress) {
  for (size_t done = 0; done < bytes;) {
    size_t piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
    ssize_t written = write(descriptor, memory + done, piece);
    if (written < 0 && errno != EINTR)
      return 0;
    done += written > 0 ? (size_t)written : 0;
    report(progress, "writing", done, bytes);
  }
  return 1;
}

/* A new file beside `path`, on the same file system, with the permissions of any new file. */
static int open_beside(char *name, size_t capacity, const char *path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    snprintf(name, capacity, "%s.new-%ld-%d", path, (long)getpid(), attempt);
    int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

/* The file appears at `path` whole or not at all. */
static int write_file(const char *path, const burin_packed_header *header, const unsigned char *weights, size_t bytes,
                      const burin_rt_progress *progress) {
  size_t capacity = strlen(path) + 64;
  char *name = (char *)malloc(capacity);
  int descriptor = name ? open_beside(name, capacity, path) : -1;
  int good = descriptor >= 0, error = errno;
  if (good) {
    good = write_all(descriptor, (const unsigned char *)header, sizeof *header, NULL) &&
           write_all(descriptor, weights, bytes, progress) && fsync(descriptor) == 0;
    error = errno;
    if (close(descriptor) != 0 && good) {
      good = 0;
      error = errno;
    }
    if (good && rename(name, path) != 0) {
      good = 0;
      error = errno;
    }
    if (!good)
      unlink(name);
  }
  free(name);
  errno = error;
  return good;
}

burin_status burin_rt_pack(const burin_plan *plan, const burin_open_options *options, const char *path,
                           const burin_rt_progress *progress) {
  burin_message message;
  burin_packed_header header;
  struct stat properties;
  burin_model *model = NULL;
  if (!options || !path)
    return BURIN_NULL_POINTER;
  burin_status status = burin_rt_open(plan, options, &model);
  if (status != BURIN_OK)
    return status;
  plan = model->plan; /* the file is for the target that was chosen */
  size_t bytes = (size_t)plan->weights_bytes;
  burin_message_start(&message, options->message, options->message_bytes);
  burin_packed_make_header(&header, plan, content_of(model->weights, bytes, progress, "hashing"));
  if (stat(path, &properties) == 0 && !S_ISREG(properties.st_mode)) { /* a rename would replace a device */
    status = fail(&message, path, "it is not a regular file");
  } else if (!write_file(path, &header, model->weights, bytes, progress)) {
    char text[128];
    status = fail(&message, path, strerror_r(errno, text, sizeof text) == 0 ? text : "unknown error");
  }
  burin_rt_close(model);
  return status;
}

burin_status burin_rt_check_packed(const char *path, const burin_rt_progress *progress,
                                   burin_rt_packed_description *found, char *text, size_t text_bytes) {
  burin_message message;
  burin_weights_file file;
  if (!path || !found)
    return BURIN_NULL_POINTER;
  memset(found, 0, sizeof *found);
  burin_message_start(&message, text, text_bytes);
  burin_status status = burin_weights_file_map(&file, path, &message);
  if (status != BURIN_OK)
    return status;
  status = burin_packed_check_header(file.memory, file.bytes, &message);
  if (status == BURIN_OK) {
    burin_packed_header header;
    memcpy(&header, file.memory, sizeof header);
    memcpy(found->target, header.target, sizeof header.target - 1);
    memcpy(found->model, header.model, sizeof header.model - 1);
    found->layout = header.layout;
    found->weights_bytes = header.weights_bytes;
    uint64_t content = content_of(burin_packed_weights(file.memory), file.bytes - sizeof header, progress, "verifying");
    status = burin_packed_check_content(file.memory, content, &message);
  }
  burin_weights_file_unmap(&file);
  return status;
}
