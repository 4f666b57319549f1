// The runtime's buffer descriptor is Halide's, member by member.
#include "kernel_buffer.h"

#include <gtest/gtest.h>

#if __has_include(<HalideRuntime.h>)
#include <HalideRuntime.h>
#include <cstddef>

#define SAME_PLACE(ours, theirs, member)                                                                               \
  static_assert(offsetof(ours, member) == offsetof(theirs, member) && sizeof(ours::member) == sizeof(theirs::member))

static_assert(sizeof(burin_kernel_buffer) == sizeof(halide_buffer_t));
SAME_PLACE(burin_kernel_buffer, halide_buffer_t, device);
SAME_PLACE(burin_kernel_buffer, halide_buffer_t, device_interface);
SAME_PLACE(burin_kernel_buffer, halide_buffer_t, host);
SAME_PLACE(burin_kernel_buffer, halide_buffer_t, flags);
SAME_PLACE(burin_kernel_buffer, halide_buffer_t, type);
SAME_PLACE(burin_kernel_buffer, halide_buffer_t, dimensions);
SAME_PLACE(burin_kernel_buffer, halide_buffer_t, dim);
SAME_PLACE(burin_kernel_buffer, halide_buffer_t, padding);

static_assert(sizeof(burin_kernel_type) == sizeof(halide_type_t));
SAME_PLACE(burin_kernel_type, halide_type_t, code);
SAME_PLACE(burin_kernel_type, halide_type_t, bits);
SAME_PLACE(burin_kernel_type, halide_type_t, lanes);
static_assert(int(BURIN_CODE_INT) == int(halide_type_int) && int(BURIN_CODE_UINT) == int(halide_type_uint) &&
              int(BURIN_CODE_FLOAT) == int(halide_type_float));

static_assert(sizeof(burin_kernel_dimension) == sizeof(halide_dimension_t));
SAME_PLACE(burin_kernel_dimension, halide_dimension_t, min);
SAME_PLACE(burin_kernel_dimension, halide_dimension_t, extent);
SAME_PLACE(burin_kernel_dimension, halide_dimension_t, stride);
SAME_PLACE(burin_kernel_dimension, halide_dimension_t, flags);

TEST(KernelBuffer, has_the_layout_of_halide) { SUCCEED() << "compared at compile time"; }
#else
TEST(KernelBuffer, has_the_layout_of_halide) { GTEST_SKIP() << "HalideRuntime.h is not on the include path"; }
#endif
