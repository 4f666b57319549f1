/* A packed file: the weights of a model as its kernels read them, so that opening maps them and copies nothing, and
 * processes share the pages.
 *
 *   [header: 4096 bytes] [weights: plan->weights_bytes]
 *
 * The header has a page of its own, so that the pages of the weights hold nothing else. It carries no table of tensors:
 * the plan has one, and `layout` is its hash. Files are in the byte order of the targets, which is little endian.
 *
 * Nothing in a file is trusted: every number in it is compared with what is expected and none is used to find a place.
 */
#ifndef BURIN_PACKED_FILE_H
#define BURIN_PACKED_FILE_H

#include "message.h"

enum { BURIN_PACKED_VERSION = 1, BURIN_PACKED_BYTE_ORDER = 0x01020304 };

typedef struct burin_packed_header {
  char
      magic[8]; /* "BURINPK1": as the length of a safetensors header more than is accepted, so it tells the two apart */
  uint32_t version;
  uint32_t byte_order;
  uint64_t checksum; /* burin_hash of the header with 0 in this place */
  uint64_t layout;   /* burin_packed_layout */
  uint64_t weights_bytes;
  uint64_t content; /* burin_hash of the weights */
  char target[64];  /* for messages: cut to fit, null-terminated, as is the next */
  char model[128];
  unsigned char reserved[3856]; /* zeros */
} burin_packed_header;
typedef char burin_packed_header_has_4096_bytes[sizeof(burin_packed_header) == 4096 ? 1 : -1];

/* Where each weight lies, and for which target: a hash of the plan's target, parameters and segments. Equal layouts
 * mean equal bytes for equal weights; what else differs between two graphs is not asked, as it is not for safetensors.
 */
BURIN_PRIVATE uint64_t burin_packed_layout(const burin_plan *plan);

/* Whether the file says that it is a packed one, of any format. */
BURIN_PRIVATE int burin_is_packed(const void *memory, size_t bytes);
/* Whether size, header and its checksum are right. */
BURIN_PRIVATE burin_status burin_packed_check_header(const void *memory, size_t bytes, burin_message *message);
/* Whether a file whose header is right holds the weights of this plan. */
BURIN_PRIVATE burin_status burin_packed_match(const burin_plan *plan, const void *memory, burin_message *message);
/* Says that the weights are damaged unless they have the header's `content`. */
BURIN_PRIVATE burin_status burin_packed_check_content(const void *memory, uint64_t content, burin_message *message);
BURIN_PRIVATE void burin_packed_make_header(burin_packed_header *header, const burin_plan *plan, uint64_t content);

static inline const unsigned char *burin_packed_weights(const void *memory) {
  return (const unsigned char *)memory + sizeof(burin_packed_header);
}

#endif
