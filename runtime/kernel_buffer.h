/* The buffer descriptor that kernels take, laid out as Halide 21 lays out its own (`halide_buffer_t`).
 *
 * Declared here and not included from Halide: the runtime and the programs that link it need no Halide, and no name of
 * this project starts with Halide's prefix, so a program may hold both. tests/runtime/kernel_buffer_test.cpp compares
 * the two layouts, member by member, at compile time.
 */
#ifndef BURIN_KERNEL_BUFFER_H
#define BURIN_KERNEL_BUFFER_H

#include <stdint.h>

enum { BURIN_CODE_INT = 0, BURIN_CODE_UINT = 1, BURIN_CODE_FLOAT = 2 };

typedef struct burin_kernel_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} burin_kernel_type;

/* One dimension: coordinates [min, min + extent), `stride` elements apart. */
typedef struct burin_kernel_dimension {
  int32_t min;
  int32_t extent;
  int32_t stride;
  uint32_t flags;
} burin_kernel_dimension;

typedef struct burin_kernel_buffer {
  uint64_t device;
  const void *device_interface;
  unsigned char *host; /* the element whose coordinates are all `min` */
  uint64_t flags;
  burin_kernel_type type;
  int32_t dimensions;
  burin_kernel_dimension *dim;
  void *padding;
} burin_kernel_buffer;

#endif
