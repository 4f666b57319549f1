/* The floating-point mode in which kernels run, whatever the caller's is: denormals are zero, going in and coming out,
 * sums are rounded to the nearest number, and nothing traps.
 *
 * On x86, where it is a register of each thread and a product with a denormal may take a hundred times as long: a sound
 * that fades out would cost a real-time loop its deadline. Setting it and putting it back takes some nanoseconds, once
 * a call. Rejected: leaving it to the caller. Then results depend on who calls, and the threads of a pool, which have
 * modes of their own, give other bits than the caller's. Elsewhere denormals cost little, and the mode stays as it is.
 */
#ifndef BURIN_FLOAT_MODE_H
#define BURIN_FLOAT_MODE_H

#if defined(__SSE2__) && defined(__GNUC__)

/* MXCSR: flush to zero, denormals are zero, all exceptions masked, no rounding bits. */
#define BURIN_KERNEL_FLOAT_MODE 0x9fc0u

static inline unsigned int burin_enter_float_mode(void) {
  unsigned int before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(BURIN_KERNEL_FLOAT_MODE);
  return before;
}

static inline void burin_leave_float_mode(unsigned int before) { __builtin_ia32_ldmxcsr(before); }

#else

static inline unsigned int burin_enter_float_mode(void) { return 0; }
static inline void burin_leave_float_mode(unsigned int before) { (void)before; }

#endif
#endif
