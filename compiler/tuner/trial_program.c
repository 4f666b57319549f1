/* The program that a runner is given: it runs the kernels of its tables on the same input, says what bits each gives
 * and how long it takes, on stdout, a line each:
 *
 *     kernel 2 rows 16 bits 5f0c…
 *     kernel 2 rows 16 seconds 1.25e-06
 *     done
 *
 * Kernels are measured in turn, round after round, so that all see the same clocks and neighbours, and the least of the
 * rounds counts. It needs a C library and nothing else. With the argument `describe` it only says which kernels it has;
 * with `bits`, it measures no time.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1 /* MADV_HUGEPAGE, where the system has it */
#include "trial_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* ---- What kernels call. An arena, as the runtime has one: memory of a block that is freed before a younger one comes
 * back with that one. */

typedef struct block {
  struct block *older;
  int64_t older_used;
  int freed;
} block;

static unsigned char *arena;
static int64_t arena_used;
static block *youngest;

static void fail(const char *why) {
  printf("failed: %s\n", why);
  fflush(stdout);
  exit(3);
}

void *halide_malloc(void *context, size_t bytes);
void halide_free(void *context, void *pointer);
void halide_error(void *context, const char *message);

void *halide_malloc(void *context, size_t bytes) {
  (void)context;
  int64_t needed = (int64_t)((bytes + 8 + 127) & ~(size_t)127) + 128;
  if (arena_used + needed > trial_arena_bytes)
    fail("a kernel takes more scratch than its bound");
  unsigned char *memory = arena + arena_used + 128;
  block *taken = (block *)(void *)(memory - sizeof *taken);
  taken->older = youngest;
  taken->older_used = arena_used;
  taken->freed = 0;
  youngest = taken;
  arena_used += needed;
  return memory;
}

void halide_free(void *context, void *pointer) {
  (void)context;
  if (!pointer)
    return;
  ((block *)(void *)((unsigned char *)pointer - sizeof *youngest))->freed = 1;
  for (; youngest && youngest->freed; youngest = youngest->older)
    arena_used = youngest->older_used;
}

void halide_error(void *context, const char *message) {
  (void)context;
  fail(message);
}

/* What an autoscheduler made parallel runs in order here: this is one thread against one thread. */
int halide_do_par_for(void *user, int (*task)(void *, int, uint8_t *), int first, int count, uint8_t *closure);
int halide_do_par_for(void *user, int (*task)(void *, int, uint8_t *), int first, int count, uint8_t *closure) {
  int status = 0;
  for (int n = first; n < first + count && status == 0; ++n)
    status = task(user, n, closure);
  return status;
}

/* ---- Arguments. Layouts are Halide's (runtime/kernel_buffer.h). */

typedef struct dimension {
  int32_t min, extent, stride;
  uint32_t flags;
} dimension;

typedef struct buffer {
  uint64_t device;
  const void *device_interface;
  unsigned char *host;
  uint64_t flags;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } type;
  int32_t dimensions;
  dimension *dim;
  void *padding;
} buffer;

enum { MOST_ARGUMENTS = 64, MARGIN = 256, MARK = 0x5a };

typedef struct argument {
  buffer described;
  dimension dim[2];
  unsigned char *memory; /* with MARGIN marked bytes before and behind */
  size_t bytes;
  int64_t number;
  int32_t tile;
} argument;

static argument arguments[MOST_ARGUMENTS];
static void *pointers[MOST_ARGUMENTS];
static void *context;

static size_t element_bytes(int32_t type) {
  static const unsigned char bytes[] = {4, 8, 8, 4, 1, 2, 1};
  return bytes[type];
}

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

static void fill(const trial_argument *a, argument *to, uint32_t seed) {
  size_t count = to->bytes / element_bytes(a->type);
  unsigned char *at = to->memory + MARGIN;
  memset(at, 0, to->bytes);
  if (a->written)
    return;
  for (size_t n = 0; n < count; ++n) {
    uint32_t random = next_random(&seed) >> 8;
    /* values of both signs; weights are among them, so that sums stay moderate */
    float value = ((float)random / 8388608.0f - 1.0f) * (a->kind == TRIAL_VECTOR ? 0.125f : 1.0f);
    if (a->type == TRIAL_F32)
      ((float *)(void *)at)[n] = value;
    else if (a->type == TRIAL_U16) /* the upper half of a float */
      memcpy((uint16_t *)(void *)at + n, (unsigned char *)&value + 2, 2);
    else if (a->type == TRIAL_I8)
      at[n] = (unsigned char)(random & 255);
    else if (a->type == TRIAL_F64)
      ((double *)(void *)at)[n] = (double)random / 8388608.0 - 1.0;
    else if (a->type == TRIAL_I64)
      ((int64_t *)(void *)at)[n] = a->value + (int64_t)n;
    else if (a->type == TRIAL_I32)
      ((int32_t *)(void *)at)[n] = a->value > 0 ? (int32_t)(random % (uint32_t)a->value) : 0;
    else
      at[n] = (unsigned char)(random & 1);
  }
}

static void describe(const trial_argument *a, argument *to, int64_t rows, uint32_t seed) {
  static const unsigned char codes[] = {2, 2, 0, 0, 1, 1, 0};
  int64_t count = a->varies ? rows * a->rows_each : a->rows_each, columns = a->columns_vary ? rows : a->columns;
  if (a->kind == TRIAL_VECTOR)
    count = 1;
  to->bytes = (size_t)(count * columns * a->stride) * element_bytes(a->type);
  free(to->memory);
  size_t whole = (to->bytes + 2 * MARGIN + 127) & ~(size_t)127;
  void *memory = NULL;
  if (posix_memalign(&memory, 128, whole) != 0)
    fail("no memory");
  to->memory = memory;
  memset(to->memory, MARK, whole);
  fill(a, to, seed);
  memset(&to->described, 0, sizeof to->described);
  to->described.host = to->memory + MARGIN;
  to->described.type.code = codes[a->type];
  to->described.type.bits = (uint8_t)(8 * element_bytes(a->type));
  to->described.type.lanes = 1;
  to->described.dimensions = a->kind == TRIAL_VECTOR ? 1 : 2;
  to->described.dim = to->dim;
  to->dim[0] = (dimension){0, (int32_t)columns, a->stride, 0};
  to->dim[1] = (dimension){0, (int32_t)count, (int32_t)columns, 0};
}

static void prepare(int64_t rows) {
  for (int32_t i = 0; i < trial_argument_count; ++i) {
    const trial_argument *a = &trial_arguments[i];
    switch (a->kind) {
    case TRIAL_CONTEXT:
      pointers[i] = &context;
      break;
    case TRIAL_NUMBER:
      arguments[i].number = a->value;
      pointers[i] = &arguments[i].number;
      break;
    case TRIAL_TILE:
      arguments[i].tile = 0;
      pointers[i] = &arguments[i].tile;
      break;
    default:
      describe(a, &arguments[i], rows, 77u + (uint32_t)i);
      pointers[i] = &arguments[i].described;
    }
  }
}

static int is_buffer(const trial_argument *a) {
  return a->kind == TRIAL_VECTOR || a->kind == TRIAL_ROWS || a->kind == TRIAL_COUNTS;
}

/* A model calls a kernel with the weights of one layer after another, and has none of them in a near cache where all of
 * them together do not fit. So timed calls take copies in turn, as many as the model has weights. */
static unsigned char *weight_copies;
static int64_t weight_bytes, next_copy;

static void copy_weights(void) {
  if (trial_weight_argument < 0)
    return;
  argument *weights = &arguments[trial_weight_argument];
  void *memory = NULL;
  weight_bytes = ((int64_t)weights->bytes + 127) & ~(int64_t)127;
  free(weight_copies);
  const size_t large_page = (size_t)2 << 20, bytes = (size_t)(weight_bytes * trial_weight_copies + 128);
  if (posix_memalign(&memory, large_page, bytes) != 0)
    fail("no memory");
#ifdef MADV_HUGEPAGE
  (void)madvise(memory, bytes, MADV_HUGEPAGE); /* as the runtime asks for a model's weights */
#endif
  weight_copies = memory;
  for (int64_t copy = 0; copy < trial_weight_copies; ++copy)
    memcpy(weight_copies + copy * weight_bytes, weights->memory + MARGIN, weights->bytes);
}

static void take_next_weights(void) {
  if (trial_weight_argument < 0)
    return;
  arguments[trial_weight_argument].described.host = weight_copies + next_copy * weight_bytes;
  next_copy = next_copy + 1 < trial_weight_copies ? next_copy + 1 : 0;
}

static int is_marked(const argument *a) {
  for (size_t n = 0; n < MARGIN; ++n)
    if (a->memory[n] != MARK || a->memory[MARGIN + a->bytes + n] != MARK)
      return 0;
  return 1;
}

/* ---- Kernels */

static void call(const trial_kernel *kernel) {
  if (kernel->run(pointers) != 0)
    fail("a kernel returned an error");
}

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv) over all results, from zeroed memory. */
static uint64_t bits_of(int32_t k) {
  for (int32_t i = 0; i < trial_argument_count; ++i)
    if (trial_arguments[i].written)
      memset(arguments[i].memory + MARGIN, 0, arguments[i].bytes);
  call(&trial_kernels[k]);
  uint64_t hash = 14695981039346656037u;
  for (int32_t i = 0; i < trial_argument_count; ++i) {
    if (!is_buffer(&trial_arguments[i]))
      continue;
    if (!is_marked(&arguments[i])) {
      printf("kernel %d wrote outside its buffers\n", (int)k);
      return ~(uint64_t)0;
    }
    for (size_t n = 0; trial_arguments[i].written && n < arguments[i].bytes; ++n)
      hash = (hash ^ arguments[i].memory[MARGIN + n]) * 1099511628211u;
  }
  return hash;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Of one call, in nanoseconds: the mean of as many as fill the time of a measurement. */
static double measure(const trial_kernel *kernel) {
  call(kernel); /* its code and data are in the caches again */
  int64_t calls = 0, start = now(), end = start;
  for (int64_t batch = 1; end - start < trial_nanoseconds; batch *= 2) {
    for (int64_t n = 0; n < batch; ++n) {
      take_next_weights();
      call(kernel);
    }
    calls += batch;
    end = now();
  }
  return (double)(end - start) / (double)calls;
}

static void try_size(const trial_size *size, int timed) {
  prepare(size->rows);
  for (int32_t k = 0; k < trial_kernel_count; ++k)
    printf("kernel %d rows %lld bits %016llx\n", (int)k, (long long)size->rows, (unsigned long long)bits_of(k));
  fflush(stdout);
  if (!timed || !size->timed)
    return;
  copy_weights();
  double *least = malloc((size_t)trial_kernel_count * sizeof *least);
  if (!least)
    fail("no memory");
  for (int32_t round = 0; round < trial_rounds; ++round)
    for (int32_t k = 0; k < trial_kernel_count; ++k) {
      double taken = measure(&trial_kernels[k]);
      least[k] = round == 0 || taken < least[k] ? taken : least[k];
    }
  for (int32_t k = 0; k < trial_kernel_count; ++k)
    printf("kernel %d rows %lld seconds %.9g\n", (int)k, (long long)size->rows, least[k] * 1e-9);
  free(least);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "describe") == 0) {
    for (int32_t k = 0; k < trial_kernel_count; ++k)
      printf("kernel %d parameters %s\n", (int)k, trial_kernels[k].parameters);
    for (int32_t s = 0; s < trial_size_count; ++s)
      printf("rows %lld timed %d\n", (long long)trial_sizes[s].rows, (int)trial_sizes[s].timed);
    return 0;
  }
  void *memory = NULL;
  if (trial_argument_count > MOST_ARGUMENTS || posix_memalign(&memory, 128, (size_t)trial_arena_bytes) != 0)
    fail("too many arguments, or no memory");
  arena = memory;
  for (int32_t s = 0; s < trial_size_count; ++s)
    try_size(&trial_sizes[s], !(argc > 1 && strcmp(argv[1], "bits") == 0));
  printf("done\n");
  return 0;
}
