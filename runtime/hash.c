/* XXH64, written after its specification (xxHash, doc/xxhash_spec.md): four lanes over stripes of 32 bytes, merged,
 * then what remains in words, half words and bytes, then a last mixing of the bits.
 */
#include "hash.h"

#include <string.h>

#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

enum { STRIPE = 32 };

static inline uint64_t rotate(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

static inline uint64_t word_at(const unsigned char *place) {
  uint64_t word;
  memcpy(&word, place, sizeof word);
  return word;
}

static inline uint64_t half_word_at(const unsigned char *place) {
  uint32_t word;
  memcpy(&word, place, sizeof word);
  return word;
}

static inline uint64_t round_of(uint64_t lane, uint64_t word) { return rotate(lane + word * PRIME_2, 31) * PRIME_1; }

void burin_hash_start(burin_hasher *hasher, uint64_t seed) {
  hasher->seed = seed;
  hasher->bytes = 0;
  hasher->lanes[0] = seed + PRIME_1 + PRIME_2;
  hasher->lanes[1] = seed + PRIME_2;
  hasher->lanes[2] = seed;
  hasher->lanes[3] = seed - PRIME_1;
}

void burin_hash_add(burin_hasher *hasher, const void *memory, size_t bytes) {
  const unsigned char *next = (const unsigned char *)memory;
  uint64_t a = hasher->lanes[0], b = hasher->lanes[1], c = hasher->lanes[2], d = hasher->lanes[3];
  for (size_t stripes = bytes / STRIPE; stripes > 0; --stripes, next += STRIPE) {
    a = round_of(a, word_at(next));
    b = round_of(b, word_at(next + 8));
    c = round_of(c, word_at(next + 16));
    d = round_of(d, word_at(next + 24));
  }
  hasher->lanes[0] = a;
  hasher->lanes[1] = b;
  hasher->lanes[2] = c;
  hasher->lanes[3] = d;
  hasher->bytes += bytes;
}

uint64_t burin_hash_finish(const burin_hasher *hasher, const void *last, size_t bytes) {
  burin_hasher all = *hasher;
  const unsigned char *next = (const unsigned char *)last;
  size_t whole = bytes / STRIPE * STRIPE;
  uint64_t hash;
  if (whole > 0) {
    burin_hash_add(&all, next, whole);
    next += whole;
    bytes -= whole;
  }
  if (all.bytes > 0) {
    hash = rotate(all.lanes[0], 1) + rotate(all.lanes[1], 7) + rotate(all.lanes[2], 12) + rotate(all.lanes[3], 18);
    for (int lane = 0; lane < 4; ++lane)
      hash = (hash ^ round_of(0, all.lanes[lane])) * PRIME_1 + PRIME_4;
  } else {
    hash = all.seed + PRIME_5;
  }
  hash += all.bytes + bytes;
  for (; bytes >= 8; bytes -= 8, next += 8)
    hash = rotate(hash ^ round_of(0, word_at(next)), 27) * PRIME_1 + PRIME_4;
  for (; bytes >= 4; bytes -= 4, next += 4)
    hash = rotate(hash ^ half_word_at(next) * PRIME_1, 23) * PRIME_2 + PRIME_3;
  for (; bytes > 0; --bytes, ++next)
    hash = rotate(hash ^ *next * PRIME_5, 11) * PRIME_1;
  hash = (hash ^ hash >> 33) * PRIME_2;
  hash = (hash ^ hash >> 29) * PRIME_3;
  return hash ^ hash >> 32;
}

uint64_t burin_hash(const void *memory, size_t bytes, uint64_t seed) {
  burin_hasher hasher;
  burin_hash_start(&hasher, seed);
  return burin_hash_finish(&hasher, memory, bytes);
}
