/* What a model's server (model_server.c) and the tool (emulated_model.cpp) say to one another, over one connection that
 * is the server's standard input and output: a request, then its reply, and so on. Both sides are little-endian.
 *
 * A request carries the bytes behind every pointer of a call, and its reply those that the call wrote, so that the tool
 * calls a model in another process with pointers of its own. Scratch is only a size: what it holds is nobody's
 * business. Rejected: shared memory. It would save copies that an emulator makes unimportant, and would let a model on
 * the far side write where only the caller may.
 */
#ifndef BURIN_MODEL_PROTOCOL_H
#define BURIN_MODEL_PROTOCOL_H

#include <stdint.h>

/* Requests, and the blocks that each carries. `outputs` is a list of the sizes that the outputs have, and the reply's
 * blocks are the outputs where the status is BURIN_OK; `state` comes back as the reply's first block. */
enum {
  BURIN_REQUEST_OPEN = 1,          /* weights, path, flags (burin_request_flags); count: room for the message.
                                      Reply: value is the model, block the name of the target that opening chose,
                                      or what is wrong */
  BURIN_REQUEST_CLOSE = 2,         /* none */
  BURIN_REQUEST_SCRATCH_BYTES = 3, /* rows; number: sequences. Reply: value */
  BURIN_REQUEST_FORWARD = 4,       /* rows, outputs, inputs… */
  BURIN_REQUEST_FORWARD_BATCH = 5, /* outputs, offsets of each symbol…, inputs…; number: sequences */
  BURIN_REQUEST_RESET = 6,         /* state; number: position */
  BURIN_REQUEST_STEP = 7,          /* state, outputs, inputs… */
  BURIN_REQUEST_ADVANCE = 8,       /* state, outputs, inputs…; number: stream, count: rows */
  BURIN_REQUEST_STATE_READ = 9,    /* state, name; count: room for values. Reply: value is the rows, block the values */
  BURIN_REQUEST_STATE_SAVE = 10,   /* state; count: room for bytes. Reply: value is the bytes, block the bytes */
  BURIN_REQUEST_STATE_LOAD = 11    /* state, saved */
};

/* Flags of burin_open_options, one bit each. */
enum {
  BURIN_OPEN_WEIGHTS_STAY = 1,
  BURIN_OPEN_COPY = 2,
  BURIN_OPEN_VERIFY_CONTENT = 4,
  BURIN_OPEN_PREFAULT = 8,
  BURIN_OPEN_LOCK_MEMORY = 16,
  BURIN_OPEN_ALLOW_EXTRA_TENSORS = 32
};

typedef struct burin_request {
  int64_t kind;
  int64_t model;         /* as opening numbered it */
  int64_t scratch_bytes; /* -1: null */
  int64_t number;
  int64_t count;
  int64_t block_count;
} burin_request;

typedef struct burin_reply {
  int64_t status;
  int64_t value;
  int64_t block_count;
} burin_reply;

/* Before its bytes stands a block's size, an int64_t; -1 is a null pointer. */
#define BURIN_NULL_BLOCK (-1)

/* What no request and no reply exceeds: more is a fault of the other side, and ends the server. */
#define BURIN_MOST_BLOCKS 64
#define BURIN_MOST_BLOCK_BYTES ((int64_t)1 << 32)

/* The server's first words, before any request: a reply with one block, this. Both sides have the plan's tables, and
 * these numbers say that they are the same. */
typedef struct burin_greeting {
  uint64_t plan_version;
  uint64_t fingerprint;
  uint64_t graph;
  int64_t weights_bytes;
  int64_t state_bytes;
} burin_greeting;

#endif
