/* Burin's runtime, as a program sees it. C99; usable from C++.
 *
 * A compiled model is an object file and a generated header. The header declares functions that start with the
 * model's name (`policy_open`, `policy_forward`, `policy_step`, …); this file declares what they share: statuses,
 * the opaque model, and how to open one.
 *
 * Rules that hold for every model:
 *  - A model is immutable after it is opened and may be shared by threads. A state and a scratch arena are plain memory
 *    of the caller, 64-byte aligned, and belong to one call at a time.
 *  - Inputs and outputs are 4-byte aligned, row after row without gaps; they overlap neither one another nor state or
 *    scratch.
 *  - After opening, no call allocates, locks, makes a system call or aborts. With a pool of threads, which is asked
 * for, `forward` and `forward_batch` may wake threads that sleep, and give way to others on a processor that has too
 * many.
 *  - On any status but BURIN_OK, outputs and state are as before the call.
 *  - A state is a value: a copy of its bytes, aligned as well, is another stream that goes on from the same point.
 */
#ifndef BURIN_H
#define BURIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum burin_status {
  BURIN_OK = 0,
  BURIN_NULL_POINTER = 1,        /* a required pointer is null */
  BURIN_MISALIGNED = 2,          /* state or scratch not 64-byte aligned, an input or output not 4-byte aligned */
  BURIN_OVERLAP = 3,             /* two buffers of the call overlap */
  BURIN_TIME_OUT_OF_RANGE = 4,   /* longer than the graph's maximum, a negative length, too many rows in all */
  BURIN_BAD_OFFSETS = 5,         /* batch offsets do not start at 0 or descend */
  BURIN_STATE_FULL = 6,          /* a step past the capacity of the caches or of a learned table */
  BURIN_STATE_FOREIGN = 7,       /* the state was never reset, or belongs to another model; likewise a saved one */
  BURIN_SCRATCH_TOO_SMALL = 8,   /* scratch or state memory smaller than the model's sizes ask for */
  BURIN_NO_SUCH_STATE_VALUE = 9, /* state_read: no value of that name, or room for fewer values than it has; state_save:
                                    room for fewer bytes than it needs */
  BURIN_NO_STEP = 10,            /* the graph looks ahead in time and has no step */
  BURIN_CPU_UNSUPPORTED = 11,    /* this processor, or its operating system, lacks what the object was compiled for */
  BURIN_FILE_UNREADABLE = 12,    /* the weights file cannot be opened or mapped */
  BURIN_FILE_MALFORMED = 13,     /* the weights file breaks its own format */
  BURIN_WEIGHTS_MISMATCH = 14,   /* a tensor missing, unknown, of another shape or type; a model of another graph */
  BURIN_OUT_OF_MEMORY = 15,      /* opening could not allocate the packed weights, or `memory` has no room for them */
  BURIN_KERNEL_FAILED = 16,      /* a kernel reported an error; never seen with an object and runtime that match */
  BURIN_BAD_ID = 17,             /* a token id is negative or not in the table */
  BURIN_MEMORY_NOT_LOCKED = 18,  /* lock_memory was asked for, and the operating system refused */
  BURIN_STATE_DAMAGED = 19,      /* state_load: the bytes are cut off, or not what was saved */
  BURIN_NO_SUCH_ISA = 20,        /* the object holds no code for the `isa` that was asked for */
  BURIN_NO_WORKERS = 21          /* threads or workers were asked for that cannot be had */
} burin_status;

/* The status as a sentence; a constant string, never null. */
const char *burin_status_text(burin_status status);

/* An opened model: its packed weights. Opaque. */
typedef struct burin_model burin_model;

/* Bytes of `memory` for a model; its packed weights, whose size the model's header says, come on top unless they stay
 * where they are. */
#define BURIN_MODEL_BYTES 128

/* Several threads in one `forward` or `forward_batch`; no bit of a result depends on their number. `step`, `advance`
 * and `append` stay on the caller's thread, always.
 *
 * A model is opened with `threads`, and has a pool of its own; or with `workers`: those of a pool that models share, or
 * callbacks to one that the program has already. One call at a time uses a model's workers, and one those of a pool:
 * who finds them busy runs alone, and waits for nobody.
 */
enum { BURIN_MOST_WORKERS = 64 };

typedef struct burin_workers {
  void *context;
  int32_t count; /* tasks that may run at the same time, the caller's thread included */
  /* Calls task(data, index) for each index in [0, tasks), tasks ≤ count, on any thread and in any order, and returns
   * when all have returned. They wait for nothing, so they may as well run one after another. */
  void (*run)(void *context, void (*task)(void *data, int32_t index), void *data, int32_t tasks);
  /* Around the many runs of one forward; both or neither. `begin` answers 0 where the workers are busy. */
  int (*begin)(void *context);
  void (*end)(void *context);
} burin_workers;

typedef struct burin_pool burin_pool;

/* Zeros are the defaults. */
typedef struct burin_pool_options {
  int64_t
      keep_awake_us; /* threads stay awake so long after a call, in a loop, and wait for the next; then they sleep */
} burin_pool_options;

/* A pool that models may share: `threads` with the caller's, 2 to BURIN_MOST_WORKERS. Null where the number is another,
 * memory is lacking or the operating system refuses. `options` may be null. */
burin_pool *burin_pool_create(int32_t threads, const burin_pool_options *options);
/* Its workers: valid until it is destroyed, which comes after all models that use them are closed. */
const burin_workers *burin_pool_workers(const burin_pool *pool);
void burin_pool_destroy(burin_pool *pool);

/* What to open with. Zero-initialise, then set either `weights_path` or `weights` and `weights_bytes`.
 *
 * Weights come as a safetensors file of float32, float16 or bfloat16, which is packed into memory while opening and not
 * needed afterwards; or as a packed file (`burin pack`), told by its first bytes, whose pages are used as they are:
 * nothing is copied, and processes share them. A packed file stays as it is until the model is closed: replace it by
 * renaming another over it, or `copy` it. Where a file that is mapped is cut short in place, reading the pages that are
 * gone ends the process (SIGBUS). Opening checks its size, its header, and that it is for this model.
 *
 * An object may hold code for several instruction sets. Opening chooses the best that processor and operating system
 * have, or the one that `isa` names, or, where there is an operating system and `isa` is null, the one that the
 * variable BURIN_ISA names. A packed file is for one of them: unless one is named, the file's own is chosen where it
 * runs.
 *
 * Without an operating system (the archive burin_runtime_bare) weights are the bytes of a packed file, and `memory` is
 * given; anything else is refused with a sentence.
 */
typedef struct burin_open_options {
  const char *weights_path; /* the file; mapped read-only */
  const void *weights;      /* or its bytes in memory; read while opening only, a packed file too, unless: */
  size_t weights_bytes;
  int weights_stay;    /* 1: `weights` is a packed file, 64-byte aligned, and stays until closing: not copied */
  void *memory;        /* 64-byte aligned: the model is made here, with its weights where they are packed or copied, */
  size_t memory_bytes; /* and stays until closing; null: opening allocates */
  int copy;            /* 1: a packed file is copied to memory, and not needed afterwards */
  int verify_content;  /* 1: the weights of a packed file are compared with their hash; 0: damage goes unseen */
  int prefault;        /* 1: all weights are brought into memory while opening, not when they are first used */
  int lock_memory;     /* 1: and kept there until closing; BURIN_MEMORY_NOT_LOCKED where that is refused */
  int allow_extra_tensors; /* 0: a tensor that the graph does not name is an error; 1: it is ignored */
  const char *isa;         /* a target's name, such as "x86-64-avx2": this and no other; null: the best */
  char *message;           /* receives one sentence, cut to fit and null-terminated, when opening fails; or null */
  size_t message_bytes;
  int threads;                  /* more than 1: a pool of so many, the caller's included, until closing */
  const burin_workers *workers; /* or these, which outlive the model; or null */
} burin_open_options;

/* The target whose code the model runs, as `burin targets` names it: what opening chose. */
const char *burin_model_isa(const burin_model *model);

/* Position of the next sample of a state's stream: where its reset put it, and one more for each sample since. Stream 0
 * is the one that `step` takes; the header numbers the others. -1 for memory that is not a state. */
int64_t burin_state_position(const void *state);
int64_t burin_state_stream_position(const void *state, int stream);

#ifdef __cplusplus
}
#endif
#endif
