// XXH64 against the values of its specification's reference implementation.
extern "C" {
#include "hash.h"
}

#include <gtest/gtest.h>
#include <string>

namespace {

uint64_t hash_of(const std::string &text, uint64_t seed = 0) { return burin_hash(text.data(), text.size(), seed); }

TEST(Hash, known_values) {
  EXPECT_EQ(hash_of(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash_of("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash_of("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hash_of("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
  EXPECT_EQ(hash_of("xxhash", 20141025), 13067679811253438005u);
}

TEST(Hash, in_pieces_as_at_once) {
  std::string text;
  for (int i = 0; i < 500; ++i)
    text += char(i * 7);
  for (size_t length = 0; length <= text.size(); ++length)
    for (size_t piece : {size_t(32), size_t(96)}) {
      burin_hasher hasher;
      burin_hash_start(&hasher, 5);
      size_t done = 0;
      for (; done + piece <= length; done += piece)
        burin_hash_add(&hasher, text.data() + done, piece);
      EXPECT_EQ(burin_hash_finish(&hasher, text.data() + done, length - done), hash_of(text.substr(0, length), 5));
    }
}

// Two flipped signs are what a hash of one multiplication a word does not see.
TEST(Hash, sees_every_pair_of_flipped_bits) {
  std::string text(96, '\x5A');
  const uint64_t good = hash_of(text);
  auto flip = [&](size_t bit) { text[bit / 8] = char(text[bit / 8] ^ 1 << bit % 8); };
  for (size_t first = 0; first < text.size() * 8; ++first) {
    flip(first);
    EXPECT_NE(hash_of(text), good) << first;
    for (size_t second = first + 1; second < text.size() * 8; second += 31) {
      flip(second);
      EXPECT_NE(hash_of(text), good) << first << " " << second;
      flip(second);
    }
    flip(first);
  }
}

} // namespace
