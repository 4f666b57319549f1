/* Conversions to float32. Bits move as integers, so that no NaN is changed on its way, and conversions of halves need
 * no instruction that a processor may lack.
 */
#include "file_floats.h"

#include <string.h>

enum { FLOAT = sizeof(float), HALF = 2 };

static inline uint32_t half_at(const unsigned char *place) { return (uint32_t)place[0] | (uint32_t)place[1] << 8; }

/* float16: sign, 5 bits of exponent with bias 15, 10 of fraction; float32: sign, 8 with bias 127, 23. */
static inline uint32_t widen_f16(uint32_t half) {
  uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 0x1F, fraction = half & 0x3FF;
  if (exponent == 0x1F) /* infinities and NaNs */
    return sign | UINT32_C(0x7F800000) | fraction << 13;
  if (exponent == 0) { /* subnormal: fraction · 2^-24, a normal float32 */
    float value = (float)fraction * 0x1p-24f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return sign | bits;
  }
  return sign | (exponent + (127 - 15)) << 23 | fraction << 13;
}

int burin_file_float_type(const char *type) {
  if (strcmp(type, "F32") == 0)
    return BURIN_FILE_F32;
  if (strcmp(type, "F16") == 0)
    return BURIN_FILE_F16;
  return strcmp(type, "BF16") == 0 ? BURIN_FILE_BF16 : -1;
}

int64_t burin_file_float_bytes(int type) { return type == BURIN_FILE_F32 ? FLOAT : HALF; }

void burin_copy_floats(unsigned char *to, const unsigned char *from, int64_t count, int type) {
  if (type == BURIN_FILE_F32) {
    memcpy(to, from, (size_t)count * FLOAT);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint32_t half = half_at(from + i * HALF);
    uint32_t bits = type == BURIN_FILE_BF16 ? half << 16 : widen_f16(half);
    memcpy(to + i * FLOAT, &bits, sizeof bits);
  }
}
