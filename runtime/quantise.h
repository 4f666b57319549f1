/* Weights in fewer bits. Every operation here is exact or rounds once, in one way, so that equal files give equal bytes
 * on every processor; compiled kernels quantise rows of activations by the same rule.
 */
#ifndef BURIN_QUANTISE_H
#define BURIN_QUANTISE_H

#include <stdint.h>
#include <string.h>

/* Bits of a float32 to the nearest bfloat16, ties to even; NaNs stay NaNs. */
static inline uint16_t burin_bf16_of(uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* |x| as bits: ordered as the numbers are, infinities and NaNs above all. */
static inline uint32_t burin_magnitude_of(uint32_t bits) { return bits & 0x7FFFFFFF; }

/* Symmetric int8: value = scale · integer, integers in −127 … 127.
 *   scale = largest · (1 / 127), integer = round(value · inverse), inverse = 127 / largest
 * A column whose largest magnitude is below 2^-100, where `inverse` would leave float32, is all zeros with scale 0.
 * Returns 0 where the largest is not finite. */
static inline int burin_int8_scale_of(uint32_t largest_bits, float *scale, float *inverse) {
  float largest;
  memcpy(&largest, &largest_bits, sizeof largest);
  *scale = largest < 0x1p-100f ? 0.0f : largest * (1.0f / 127.0f);
  *inverse = largest < 0x1p-100f ? 0.0f : 127.0f / largest;
  return largest_bits < 0x7F800000;
}

/* Rounds to nearest, ties to even: adding 1.5 · 2^23 leaves the integer in the lowest bits of the sum. Two statements,
 * as some compilers fuse a product and a sum within one, which would round once. */
static inline int32_t burin_int8_of(uint32_t bits, float inverse) {
  float value;
  memcpy(&value, &bits, sizeof value);
  float product = value * inverse;
  float sum = product + 0x1.8p23f;
  uint32_t sum_bits;
  memcpy(&sum_bits, &sum, sizeof sum_bits);
  return (int32_t)(sum_bits - UINT32_C(0x4B400000));
}

#endif
