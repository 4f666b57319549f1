/* What the runtime's own files share: the opened model, the header of a state, and small arithmetic. Not installed. */
#ifndef BURIN_PRIVATE_H
#define BURIN_PRIVATE_H

#include "burin_plan.h"

/* Functions that one runtime file offers to another stay out of the dynamic symbol table of a program or library. */
#if defined(__GNUC__)
#define BURIN_PRIVATE __attribute__((visibility("hidden")))
#define BURIN_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define BURIN_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define BURIN_PRIVATE
#define BURIN_LIKELY(condition) (condition)
#define BURIN_UNLIKELY(condition) (condition)
#endif

#define BURIN_BLOCK_ALIGNMENT 64 /* of state, scratch, packed weights and every region inside them */

struct burin_model {
  uint64_t fingerprint;         /* of the plan that entry points hand in: the first of the list */
  const burin_plan *plan;       /* the one of the list that was chosen when it was opened */
  const unsigned char *weights; /* packed, 64-byte aligned; in a file's pages they cannot be written */
  struct burin_team *team;      /* who shares the work of a forward; null: the caller's thread alone */
  struct burin_device *device;  /* the model on a GPU, where the plan has one */
};

/* What an entry point executes: puts the model's plan in the place of the one that it was handed. */
static inline burin_status burin_take_plan_of(const burin_model *model, const burin_plan **plan) {
  if (BURIN_UNLIKELY(!model))
    return BURIN_NULL_POINTER;
  if (BURIN_UNLIKELY(model->fingerprint != (*plan)->fingerprint))
    return BURIN_WEIGHTS_MISMATCH;
  *plan = model->plan;
  return BURIN_OK;
}

/* Stands at the start of every state; the values of the plan follow at their offsets. */
#define BURIN_STATE_MAGIC UINT64_C(0x3245544154534e42) /* "BNSTATE2" in memory */
typedef struct burin_state_header {
  uint64_t magic;
  uint64_t fingerprint;
  int64_t position[BURIN_MAX_AXES]; /* of each stream's next row */
  int64_t start[BURIN_MAX_AXES];    /* the position at the reset; position − start rows were taken since */
  uint64_t reserved[6];
} burin_state_header;
typedef char burin_state_header_has_its_size[sizeof(burin_state_header) == BURIN_STATE_HEADER_BYTES ? 1 : -1];

static inline size_t burin_element_bytes(int32_t type) {
  static const unsigned char bytes[] = {4, 8, 8, 4, 1, 2, 1};
  return bytes[type];
}

/* A size that is not negative, where size_t may have 32 bits; sticks at SIZE_MAX as sums and products do. */
static inline size_t burin_size(int64_t size) { return (uint64_t)size > SIZE_MAX ? SIZE_MAX : (size_t)size; }

/* Sums and products of sizes that stick at SIZE_MAX: a size that no memory can have fails every comparison with one. */
static inline size_t burin_size_add(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

static inline size_t burin_size_multiply(size_t a, size_t b) { return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b; }

static inline size_t burin_size_round_up(size_t bytes) {
  return bytes > SIZE_MAX - (BURIN_BLOCK_ALIGNMENT - 1)
             ? SIZE_MAX
             : (bytes + (BURIN_BLOCK_ALIGNMENT - 1)) & ~(size_t)(BURIN_BLOCK_ALIGNMENT - 1);
}

static inline int burin_is_aligned(const void *pointer, uintptr_t alignment) {
  return ((uintptr_t)pointer & (alignment - 1)) == 0;
}

/* Memory of 0 bytes may be null; arithmetic on null pointers is undefined, on integers it is not. */
static inline void *burin_advance_pointer(const void *pointer, int64_t bytes) {
  return (void *)((uintptr_t)pointer + (uintptr_t)bytes);
}

/* Whether two pieces of memory share a byte; a piece of 0 bytes shares none. */
static inline int burin_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
  uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
  return first < second ? second - first < a_bytes && b_bytes != 0 : first - second < b_bytes && a_bytes != 0;
}

#endif
