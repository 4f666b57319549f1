/* XXH64 (github.com/Cyan4973/xxHash): the one hash of packed files, for their content, their header and the layout of
 * their weights. It finds damage and tells files apart; it is no protection against someone who wants to deceive.
 *
 * Rejected: FNV-1a over 8-byte words, which is shorter, but a flip of the highest bit of one word changes that bit of
 * the result and nothing else, so that two flipped signs pass. A CRC is slower without instructions of its own.
 */
#ifndef BURIN_HASH_H
#define BURIN_HASH_H

#include "private.h"

BURIN_PRIVATE uint64_t burin_hash(const void *memory, size_t bytes, uint64_t seed);

/* The same in pieces, for work that shows its progress. Every piece but the last has a multiple of 32 bytes. */
typedef struct burin_hasher {
  uint64_t lanes[4];
  uint64_t seed;
  uint64_t bytes;
} burin_hasher;
BURIN_PRIVATE void burin_hash_start(burin_hasher *hasher, uint64_t seed);
BURIN_PRIVATE void burin_hash_add(burin_hasher *hasher, const void *memory, size_t bytes);
BURIN_PRIVATE uint64_t burin_hash_finish(const burin_hasher *hasher, const void *last, size_t bytes);

#endif
