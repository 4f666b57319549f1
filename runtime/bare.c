/* What opening asks of an operating system, where there is none: each function of environment.h, heap.h, pages.h,
 * team.h, weights_file.h and burin_open_safetensors, which keeps a list on the heap, says so. Linked in place of the
 * files of these names; bare programs give the bytes of a packed file, and memory for the model.
 */
#include "environment.h"
#include "heap.h"
#include "open.h"
#include "pages.h"
#include "team.h"

#include <string.h>

burin_status burin_heap_allocate(void **block, size_t weights_bytes, size_t other_bytes, burin_message *message) {
  (void)other_bytes;
  *block = NULL;
  burin_message_text(message, "without an operating system there is no heap, and memory for the model is not given: ");
  burin_message_text(message, "`memory` is null, expected ");
  burin_message_number(message, burin_size_add(BURIN_MODEL_BYTES, weights_bytes));
  burin_message_text(message, " bytes");
  return BURIN_OUT_OF_MEMORY;
}

void burin_heap_free(void *block) { (void)block; }

burin_status burin_weights_file_map(burin_weights_file *file, const char *path, burin_message *message) {
  file->memory = NULL;
  file->bytes = 0;
  burin_message_text(message, "cannot open ");
  burin_message_name(message, path, strlen(path));
  burin_message_text(message, ": without an operating system there are no files, expected `weights`, the bytes of a "
                              "packed file");
  return BURIN_FILE_UNREADABLE;
}

void burin_weights_file_unmap(burin_weights_file *file) { (void)file; }

burin_status burin_open_safetensors(const burin_plan *plan, const burin_open_options *options, const void *memory,
                                    size_t bytes, burin_opened_model **opened, burin_message *message) {
  (void)plan, (void)options, (void)memory, (void)bytes, (void)opened;
  burin_message_text(message, "the weights do not begin with BURINPK1: without an operating system they come as a "
                              "packed file, which `burin pack` makes of a safetensors file");
  return BURIN_FILE_MALFORMED;
}

const char *burin_environment_isa(void) { return NULL; }

burin_status burin_team_open(const burin_plan *plan, const burin_open_options *options, burin_team **team,
                             burin_message *message) {
  (void)plan, (void)team;
  if (options->threads <= 1 && !options->workers)
    return BURIN_OK;
  burin_message_text(message, "without an operating system there are no threads: `threads` or `workers` is set");
  return BURIN_NO_WORKERS;
}

void burin_team_close(burin_team *team) { (void)team; }

burin_team *burin_team_begin(burin_team *team) {
  (void)team;
  return NULL;
}

void burin_team_end(burin_team *team) { (void)team; }

size_t burin_page_bytes(void) { return BURIN_BLOCK_ALIGNMENT; }

/* Everything is in memory. */
void burin_pages_prefault(const void *memory, size_t bytes) { (void)memory, (void)bytes; }

burin_status burin_pages_lock(const void *memory, size_t bytes, burin_message *message) {
  (void)memory, (void)bytes;
  burin_message_text(message, "without an operating system there are no pages to lock: `lock_memory` is set");
  return BURIN_MEMORY_NOT_LOCKED;
}

void burin_pages_unlock(const void *memory, size_t bytes) { (void)memory, (void)bytes; }
