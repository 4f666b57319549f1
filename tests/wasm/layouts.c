/* In 32-bit memory the descriptor that kernels take is laid out as Halide's: compared while this file is compiled. For
 * this machine tests/runtime/kernel_buffer_test.cpp does the same.
 */
#include "HalideRuntime.h"
#include "kernel_buffer.h"

#include <stddef.h>

#define SAME_MEMBER(ours, theirs, name)                                                                                \
  _Static_assert(offsetof(ours, name) == offsetof(theirs, name) &&                                                     \
                     sizeof(((ours *)0)->name) == sizeof(((theirs *)0)->name),                                         \
                 #ours "." #name)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)

_Static_assert(sizeof(void *) == 4 && sizeof(size_t) == 4, "addresses have 32 bits");
SAME_SIZE(burin_kernel_type, struct halide_type_t);
SAME_MEMBER(burin_kernel_type, struct halide_type_t, code);
SAME_MEMBER(burin_kernel_type, struct halide_type_t, bits);
SAME_MEMBER(burin_kernel_type, struct halide_type_t, lanes);
SAME_SIZE(burin_kernel_dimension, struct halide_dimension_t);
SAME_MEMBER(burin_kernel_dimension, struct halide_dimension_t, min);
SAME_MEMBER(burin_kernel_dimension, struct halide_dimension_t, extent);
SAME_MEMBER(burin_kernel_dimension, struct halide_dimension_t, stride);
SAME_MEMBER(burin_kernel_dimension, struct halide_dimension_t, flags);
SAME_SIZE(burin_kernel_buffer, struct halide_buffer_t);
SAME_MEMBER(burin_kernel_buffer, struct halide_buffer_t, device);
SAME_MEMBER(burin_kernel_buffer, struct halide_buffer_t, device_interface);
SAME_MEMBER(burin_kernel_buffer, struct halide_buffer_t, host);
SAME_MEMBER(burin_kernel_buffer, struct halide_buffer_t, flags);
SAME_MEMBER(burin_kernel_buffer, struct halide_buffer_t, type);
SAME_MEMBER(burin_kernel_buffer, struct halide_buffer_t, dimensions);
SAME_MEMBER(burin_kernel_buffer, struct halide_buffer_t, dim);
SAME_MEMBER(burin_kernel_buffer, struct halide_buffer_t, padding);
