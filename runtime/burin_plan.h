/* The tables that a compiled object hands to the runtime, and the functions that execute them. Not for programs: the
 * generated header wraps all of this. The compiler emits these structures field by field (compiler/emit/object.cpp);
 * both sides change together and `BURIN_PLAN_VERSION` counts the changes.
 *
 * A plan is data, not code: the calls of an entry in order, each with a kernel and the descriptors of its arguments.
 * Rejected: a generated driver function per entry point. It saves a few nanoseconds a call and costs code that grows
 * with depth, and a second place for checks, timing and threads.
 */
#ifndef BURIN_PLAN_H
#define BURIN_PLAN_H

#include "burin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BURIN_PLAN_VERSION 6
#define BURIN_MAX_AXES 4      /* time symbols of one graph */
#define BURIN_MAX_ARGUMENTS 64 /* of one kernel */
#define BURIN_MAX_TENSORS 16  /* inputs, or outputs, of one entry */

/* Element types. */
enum { BURIN_F32 = 0, BURIN_F64 = 1, BURIN_I64 = 2, BURIN_I32 = 3, BURIN_U8 = 4, BURIN_U16 = 5, BURIN_I8 = 6 };

/* What the rows of a tensor count: a time symbol (≥ 0), or one of these. */
enum { BURIN_AXIS_ONE = -1, BURIN_AXIS_SEQUENCE = -2, BURIN_AXIS_NONE = -3 };

/* Where an argument of a kernel lies. The last four occur only in the entries of streams; `stream` numbers the plan's
 * streams. */
enum {
  BURIN_ARG_CONTEXT = 0,   /* void *: this call's burin_arena, for the kernel's own allocations */
  BURIN_ARG_WEIGHTS = 1,   /* 1-D buffer, `columns` long, at `offset` bytes in the packed weights. A kernel may take the
                              same bytes as several types */
  BURIN_ARG_INPUT = 2,     /* 2-D buffer: input `index` of the entry */
  BURIN_ARG_OUTPUT = 3,    /* 2-D buffer: output `index` of the entry */
  BURIN_ARG_SCRATCH = 4,   /* 2-D buffer: `offset` is in bytes per unit of `row_axis`, a multiple of 64 */
  BURIN_ARG_POSITIONS = 5, /* 2-D int64 buffer [rows of row_axis][1]: position of each row in its sequence or stream */
  BURIN_ARG_POSITION = 6,  /* int64 scalar: the position of the next row of stream `index` */
  BURIN_ARG_COUNT = 7,     /* int64 scalar: rows that stream `index` took since its reset, before this call's */
  BURIN_ARG_STATE = 8,     /* 1-D buffer over a state value's whole storage: `columns` elements at `offset` bytes */
  BURIN_ARG_STATE_ROW = 9, /* 2-D f32 buffer of one row: the place of row COUNT of stream `index` in a state value of
                              `tile` and `ring` layout */
  BURIN_ARG_FIRST_TILE = 10 /* int32 scalar: the first row that this worker writes, counted in `split_units`; the
                               arguments behind it are the call's results and described from there on, everything else
                               whole */
};

typedef struct burin_plan_argument {
  int32_t kind;
  int32_t index;
  int32_t type;
  int32_t row_axis;
  int32_t column_axis; /* ≥ 0: the columns are this symbol's rows (masks); otherwise BURIN_AXIS_NONE */
  int32_t rows_each;   /* rows for each unit of row_axis: 1, or more of AXIS_ONE and AXIS_SEQUENCE */
  int32_t tile;        /* STATE_ROW: 0 for plain rows, else rows are [row/tile][feature][row%tile] */
  int32_t ring;        /* STATE_ROW: rows of the ring, row n lies at n modulo this; 0: rows do not come round */
  int64_t columns;
  int64_t offset;
} burin_plan_argument;

/* Calls that are only made where some row's signal exceeds a threshold: what a gate adds is not computed for a call in
 * which every row is closed. */
typedef struct burin_plan_guard {
  burin_plan_argument signal; /* f32, one column: an INPUT, OUTPUT or SCRATCH */
  float threshold;
  int32_t parent; /* a guard that must be open as well, or -1; it has a lower number */
} burin_plan_guard;

typedef struct burin_plan_call {
  int (*kernel)(void **arguments); /* Halide's argv convention */
  const char *name;
  const burin_plan_argument *arguments;
  int32_t argument_count;
  int32_t per_sequence; /* 1: called once for each sequence, with buffers of that sequence alone */
  int32_t guard;        /* of the entry; -1: always called */
  int32_t split_axis;   /* whose units different workers may take. Per sequence: AXIS_SEQUENCE, or that of the results'
                           rows, where the call has a FIRST_TILE */
  int32_t split_units;  /* where units are split: at multiples of this; 0: one worker takes the call */
  int64_t work;         /* of one unit of split_axis, at least about: floating-point operations. Per sequence: of a
                           unit and one row that it looks at */
} burin_plan_call;

/* An input or output of an entry, as the caller gives it. */
typedef struct burin_plan_tensor {
  const char *name;
  int32_t type;
  int32_t row_axis;
  int32_t column_axis;
  int32_t limit;     /* inputs of I32: every value is at least 0 and below this; 0: they are not checked */
  int32_t rows_each; /* rows for each unit of row_axis */
  int64_t columns;
} burin_plan_tensor;

typedef struct burin_plan_entry {
  const burin_plan_call *calls;
  const burin_plan_tensor *inputs;
  const burin_plan_tensor *outputs;
  const burin_plan_guard *guards;
  int32_t call_count;
  int32_t input_count;
  int32_t output_count;
  int32_t guard_count;
  int32_t uses_positions;                         /* 1: some call takes BURIN_ARG_POSITIONS */
  int64_t scratch_row_bytes[BURIN_MAX_AXES + 2];  /* per unit of: symbol 0…3, sequence, one; multiples of 64 */
  int64_t kernel_scratch_bytes; /* most arena that a kernel of this entry needs, see BURIN_ARENA_BLOCK_BYTES */
} burin_plan_entry;

typedef struct burin_plan_parameter {
  const char *name;
  int32_t rank; /* 1 or 2 */
  int32_t reserved;
  int64_t shape[2];
} burin_plan_parameter;

/* One copy from a parameter into the packed weights. */
enum { BURIN_PACK_VECTOR = 0, BURIN_PACK_PANELS = 1, BURIN_PACK_ROWS = 2, BURIN_PACK_PANELS_BF16 = 3,
       BURIN_PACK_PANELS_INT8 = 4 };
typedef struct burin_plan_segment {
  int32_t parameter;
  int32_t layout;      /* VECTOR: shape[0] floats from `column`; PANELS: below; ROWS: the tensor as it is. PANELS_BF16 of
                          bfloat16 and PANELS_INT8 of bytes: column c of row k at [c / nr][k / terms][c % nr][k % terms]
                          (runtime/quantise.h) */
  int32_t transposed;  /* PANELS: 1 when the file holds [out, in] */
  int32_t panel;       /* PANELS: nr; column c of input row k goes to float [c / nr][k][c % nr], c counted from `column` */
  int64_t rows;        /* PANELS: K, the length of a panel */
  int64_t column;      /* first destination column of this parameter (merged projections lie side by side) */
  int64_t destination; /* byte offset of the destination's column 0 in the packed weights */
  int32_t terms;       /* PANELS_BF16, PANELS_INT8: rows of a column that lie side by side */
  /* PANELS_INT8, each place in bytes, for whole panels of columns, and that of column 0: */
  int32_t group;       /* rows of a column that share a scale; the last group is filled up with zeros */
  int64_t columns;     /* of the destination, whole panels */
  int64_t scales;      /* [group][columns] floats */
  int64_t sums;        /* [columns] floats: the sum of a column's weights, as they are in 8 bits */
  int64_t corrections; /* [group][columns] of int32: −128 · Σ integers; −1: none */
} burin_plan_segment;

typedef struct burin_plan_state_value {
  const char *name;
  int32_t type;    /* F32 caches, F64 accumulators */
  int32_t tile;    /* caches: 0 for plain rows, else rows are [row/tile][feature][row%tile] */
  int32_t stream;  /* whose rows it keeps */
  int32_t reserved;
  int64_t rows;    /* of the storage, whole tiles not counted; 1 for accumulators */
  int64_t window;  /* caches: only so many last rows count, and row n lies at n modulo `rows`; 0: all rows are kept */
  int64_t features;
  int64_t offset;  /* bytes from the start of the state */
  int64_t bytes;
} burin_plan_state_value;

/* A sequence that goes on while the program runs, a row or some rows at a time. */
typedef struct burin_plan_stream {
  const char *name;             /* of its time symbol */
  const burin_plan_entry *one;  /* takes one row: everything has AXIS_ONE or AXIS_SEQUENCE rows */
  const burin_plan_entry *many; /* takes several rows, of `axis`; null: they are taken one after another */
  int32_t axis;
  int32_t most_rows;    /* that `many` takes at once */
  int64_t capacity;     /* rows that it takes after a reset; -1: no bound */
  int64_t position_end; /* every position is below this; -1: no bound */
} burin_plan_stream;

/* CPUID(leaf, subleaf): all bits of `mask` must be set in `reg` (0 eax, 1 ebx, 2 ecx, 3 edx); reg 4: mask of XCR0.
 * On RISC-V reg 0 is Linux's AT_HWCAP, a bit for each extension of one letter, and reg 1 the bytes of a vector register. */
typedef struct burin_plan_cpu_bit {
  uint32_t leaf, subleaf, reg, mask;
} burin_plan_cpu_bit;

typedef struct burin_plan_axis {
  const char *name;
  int64_t maximum;
} burin_plan_axis;

typedef struct burin_plan {
  const struct burin_plan *fallback; /* the same model for processors that lack what this one needs, or null */
  uint32_t version;
  int32_t axis_count;
  uint64_t fingerprint; /* of graph, target and layouts: stands in the header of every state */
  uint64_t graph;       /* fingerprint of the graph alone: stands in a saved state, which other targets may load */
  const char *name;
  const char *target;
  const burin_plan_axis *axes;
  const burin_plan_parameter *parameters;
  const burin_plan_segment *segments;
  const burin_plan_state_value *state_values;
  const burin_plan_cpu_bit *cpu_bits;
  const burin_plan_entry *forward;
  const burin_plan_stream *streams; /* the first is step's, the others are contexts that are appended to */
  int32_t parameter_count;
  int32_t segment_count;
  int32_t state_value_count;
  int32_t cpu_bit_count;
  int32_t stream_count; /* 0: the graph has no step */
  int32_t reserved;
  int64_t weights_bytes; /* packed */
  int64_t state_bytes;   /* header of BURIN_STATE_HEADER_BYTES included; 0 without step */
  int64_t worker_work;   /* floating-point operations that each worker of a split call gets at least */
  int64_t entry_work;    /* that an entry has to split at least; below, its caller's thread runs it alone */
  const struct burin_device_api *device; /* where the kernels run on a GPU: what libburin_gpu_<api>.a does; else null */
} burin_plan;

#define BURIN_STATE_HEADER_BYTES 128

/* What the generated entry points forward to. `rows` holds a length per symbol; `inputs` and `outputs` are in plan
 * order. Offsets, one array a symbol, have `sequences` + 1 entries. */
burin_status burin_rt_open(const burin_plan *plan, const burin_open_options *options, burin_model **model);
void burin_rt_close(burin_model *model);
size_t burin_rt_scratch_bytes(const burin_plan *plan, const int64_t *rows, int64_t sequences);
burin_status burin_rt_forward(const burin_plan *plan, const burin_model *model, void *scratch, size_t scratch_bytes,
                              const int64_t *rows, const void *const *inputs, void *const *outputs);
burin_status burin_rt_forward_batch(const burin_plan *plan, const burin_model *model, void *scratch,
                                    size_t scratch_bytes, int64_t sequences, const int64_t *const *offsets,
                                    const void *const *inputs, void *const *outputs);
/* An empty state whose step stream begins at `position`; the others begin at 0. */
burin_status burin_rt_reset(const burin_plan *plan, const burin_model *model, void *state, size_t state_bytes,
                            int64_t position);
/* One row of stream 0. */
burin_status burin_rt_step(const burin_plan *plan, const burin_model *model, void *state, void *scratch,
                           size_t scratch_bytes, const void *const *inputs, void *const *outputs);
/* `count` rows of a stream: inputs and outputs hold that many rows each, what one row after another would take and give.
 * Of stream 0 this is `advance`, of another `append_<stream>`. Takes as many rows at once as scratch has room for. */
burin_status burin_rt_advance(const burin_plan *plan, const burin_model *model, int32_t stream, void *state,
                              void *scratch, size_t scratch_bytes, int64_t count, const void *const *inputs,
                              void *const *outputs);
/* The rows that a value of the state keeps, oldest first, in plain order (one for an accumulator). Null `values` and
 * capacity 0 only ask how many. */
burin_status burin_rt_state_read(const burin_plan *plan, const burin_model *model, const void *state, const char *name,
                                 float *values, size_t capacity, int64_t *rows);
/* A state as bytes that another process, on another target, may load. Null `saved` and capacity 0 only ask how many. */
burin_status burin_rt_state_save(const burin_plan *plan, const burin_model *model, const void *state, void *saved,
                                 size_t capacity, size_t *bytes);
burin_status burin_rt_state_load(const burin_plan *plan, const burin_model *model, void *state, size_t state_bytes,
                                 const void *saved, size_t bytes);

/* Packed files (runtime/packed_file.h), for `burin pack`; in an archive member of their own. `report` is called now and
 * then, where it is not null. */
typedef struct burin_rt_progress {
  void (*report)(void *context, const char *what, int64_t done, int64_t total);
  void *context;
} burin_rt_progress;
/* Opens what `options` say and writes its packed weights to `path`, which is replaced when all went well. The plan needs
 * target, parameters, segments and weights_bytes. */
burin_status burin_rt_pack(const burin_plan *plan, const burin_open_options *options, const char *path,
                           const burin_rt_progress *progress);
/* What a packed file says of itself; names are cut to fit. */
typedef struct burin_rt_packed_description {
  char target[64];
  char model[128];
  uint64_t layout;
  uint64_t weights_bytes;
} burin_rt_packed_description;
/* Whether size, header and content of a packed file are right: everything that asks for no plan. */
burin_status burin_rt_check_packed(const char *path, const burin_rt_progress *progress,
                                   burin_rt_packed_description *found, char *message, size_t message_bytes);

/* For the bench: called around each kernel when set, by the caller's thread; around what several workers run of a call
 * at once. Null otherwise. Not thread safe; set it before any call. */
typedef void (*burin_rt_probe_function)(const burin_plan_call *call, int finished);
extern burin_rt_probe_function burin_rt_probe;

/* Halide's hooks, under their names after renaming (halide_malloc → burin_rt_malloc …): allocation comes from the
 * arena that the user context points to; errors are recorded there. */
#define BURIN_ARENA_ALIGNMENT 128
/* What one allocation of `bytes` takes of the arena: a place for its header, and room to read 8 bytes past its end, as
 * Halide asks for. `kernel_scratch_bytes` is a sum of these over the allocations whose scopes enclose one another; a
 * block freed before a younger one counts until the younger one is freed. */
#define BURIN_ARENA_BLOCK_BYTES(bytes) ((((bytes) + 8 + 127) & ~(size_t)127) + BURIN_ARENA_ALIGNMENT)
void *burin_rt_malloc(void *user_context, size_t bytes);
void burin_rt_free(void *user_context, void *pointer);
void burin_rt_error(void *user_context, const char *message);

#ifdef __cplusplus
}
#endif
#endif
