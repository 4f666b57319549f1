// Half-precision weights become float32 exactly: every one of the 65,536 words of each type.
extern "C" {
#include "file_floats.h"
}

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace {

float widened(uint32_t word, int type) {
  const unsigned char bytes[] = {0xEE, static_cast<unsigned char>(word), static_cast<unsigned char>(word >> 8)};
  float value;
  burin_copy_floats(reinterpret_cast<unsigned char *>(&value), bytes + 1, 1, type); // at an odd address
  return value;
}

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

TEST(FileFloats, words_from_outside) {
  EXPECT_EQ(widened(0x3F80, BURIN_FILE_BF16), 1.0f);
  EXPECT_EQ(widened(0x3FC0, BURIN_FILE_BF16), 1.5f);
  EXPECT_EQ(widened(0xC000, BURIN_FILE_BF16), -2.0f);
  EXPECT_EQ(widened(0x3DCD, BURIN_FILE_BF16), 0.10009765625f);
  EXPECT_EQ(widened(0x3C00, BURIN_FILE_F16), 1.0f);
  EXPECT_EQ(widened(0x3E00, BURIN_FILE_F16), 1.5f);
  EXPECT_EQ(widened(0xC000, BURIN_FILE_F16), -2.0f);
  EXPECT_EQ(widened(0x2E68, BURIN_FILE_F16), 0.10009765625f);
  EXPECT_EQ(widened(0x7BFF, BURIN_FILE_F16), 65504.0f);
  EXPECT_EQ(widened(0x0001, BURIN_FILE_F16), 5.9604644775390625e-8f);
  EXPECT_EQ(widened(0x83FF, BURIN_FILE_F16), -6.09755516052246e-5f);
  EXPECT_EQ(widened(0x7C00, BURIN_FILE_F16), std::numeric_limits<float>::infinity());
  EXPECT_EQ(widened(0xFC00, BURIN_FILE_F16), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(bits_of(widened(0x8000, BURIN_FILE_F16)), 0x80000000u);
}

TEST(FileFloats, every_f16) {
  for (uint32_t word = 0; word < 0x10000; ++word) {
    int exponent = int(word >> 10 & 31), fraction = int(word & 1023);
    float value = widened(word, BURIN_FILE_F16);
    ASSERT_EQ(std::signbit(value), word >> 15 != 0) << word;
    if (exponent == 31) {
      ASSERT_EQ(std::isnan(value), fraction != 0) << word;
      ASSERT_EQ(bits_of(value) & 0x7FFFFF, uint32_t(fraction) << 13) << word; // what a NaN says is kept
      continue;
    }
    double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(std::fabs(double(value)), magnitude) << word;
  }
}

TEST(FileFloats, every_bf16_is_the_upper_half) {
  for (uint32_t word = 0; word < 0x10000; ++word) {
    float value = widened(word, BURIN_FILE_BF16);
    ASSERT_EQ(bits_of(value), word << 16);
  }
}

TEST(FileFloats, only_these_types) {
  EXPECT_EQ(burin_file_float_type("F32"), BURIN_FILE_F32);
  EXPECT_EQ(burin_file_float_type("F16"), BURIN_FILE_F16);
  EXPECT_EQ(burin_file_float_type("BF16"), BURIN_FILE_BF16);
  for (const char *type : {"F64", "I32", "I16", "U16", "F8_E4M3", ""})
    EXPECT_EQ(burin_file_float_type(type), -1) << type;
}

} // namespace
