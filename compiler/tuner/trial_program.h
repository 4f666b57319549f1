/* What a trial program is about: the kernels to compare, their arguments, the numbers of rows. The tuner writes the
 * tables as C text and compiles it with trial_program.c (compiler/tuner/trial.cpp).
 */
#ifndef BURIN_TRIAL_PROGRAM_H
#define BURIN_TRIAL_PROGRAM_H

#include <stdint.h>

enum {
  TRIAL_CONTEXT, /* the arena */
  TRIAL_VECTOR,  /* 1-D buffer of `columns` elements */
  TRIAL_ROWS,    /* 2-D buffer of rows */
  TRIAL_COUNTS,  /* int64 rows of one column that count from `value` on */
  TRIAL_NUMBER,  /* int64 scalar, `value` */
  TRIAL_TILE     /* int32 scalar, 0 */
};
/* As in burin_plan.h; U16 are bfloat16, I8 weights. */
enum { TRIAL_F32, TRIAL_F64, TRIAL_I64, TRIAL_I32, TRIAL_U8, TRIAL_U16, TRIAL_I8 };

typedef struct trial_argument {
  int32_t kind, type;
  int32_t varies; /* 1: as many rows as the size says, `rows_each` times; 0: rows_each */
  int32_t rows_each;
  int32_t columns_vary; /* 1: as many columns as the size says */
  int32_t stride;       /* between the columns of a row that lies across lanes; else 1 */
  int32_t written;      /* 1: a result */
  int64_t columns;
  int64_t value; /* COUNTS, NUMBER; ids are at least 0 and below it */
} trial_argument;

typedef struct trial_kernel {
  int (*run)(void **arguments); /* Halide's argv convention */
  const char *parameters;
} trial_kernel;

typedef struct trial_size {
  int64_t rows;
  int32_t timed; /* 0: only bits are compared */
} trial_size;

extern const trial_kernel trial_kernels[];
extern const trial_argument trial_arguments[];
extern const trial_size trial_sizes[];
extern const int32_t trial_kernel_count, trial_argument_count, trial_size_count, trial_rounds;
extern const int32_t trial_weight_argument;                /* -1: none */
extern const int32_t trial_weight_copies;                  /* of the weights, which calls take in turn */
extern const int64_t trial_arena_bytes, trial_nanoseconds; /* of one measurement */

#endif
