/* Runs a compiled model where this machine's processor cannot: linked with the model's object and the runtime of the
 * target, started under its emulator, it answers requests (model_protocol.h) until its input ends.
 *
 *     aarch64-linux-gnu-gcc -static -o server model_server.o served_plan.c policy.o libburin_runtime.a
 *
 * What a request says is checked against bounds, not believed; what is wrong with it ends the server with status 2, as
 * there is no telling where the next request begins.
 */
#define _POSIX_C_SOURCE 200809L
#include "burin_plan.h"
#include "model_protocol.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the protocol has no byte order of its own"
#endif

enum { MOST_MODELS = 256, BLOCK_ALIGNMENT = 64 };

const burin_plan *served_plan(void); /* the model's own function: a line of C beside this file, as not
                                         every linker can give a symbol another name */

typedef struct block {
  void *data; /* aligned as states and scratch are; null for a null pointer */
  int64_t bytes;
} block;

typedef struct opened {
  burin_model *model;
  void *weights; /* that stay */
} opened;

static opened models[MOST_MODELS];
static block scratch;

static void refuse(const char *what, long long found) {
  fprintf(stderr, "model server: %s %lld\n", what, found);
  exit(2);
}

/* ---- Bytes */

static void *allocate(int64_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, BLOCK_ALIGNMENT, bytes > 0 ? (size_t)bytes : 1) != 0)
    refuse("no memory for bytes:", (long long)bytes);
  return memory;
}

/* 0 where the input ended before the first byte. */
static int receive(void *to, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    ssize_t now = read(STDIN_FILENO, (char *)to + done, (size_t)(bytes - done));
    if (now == 0 && done == 0)
      return 0;
    if (now <= 0)
      refuse("a request ends after bytes:", (long long)done);
    done += now;
  }
  return 1;
}

static void send_bytes(const void *from, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    ssize_t now = write(STDOUT_FILENO, (const char *)from + done, (size_t)(bytes - done));
    if (now <= 0)
      exit(0); /* nobody listens any more */
    done += now;
  }
}

static block receive_block(void) {
  block received = {NULL, BURIN_NULL_BLOCK};
  if (!receive(&received.bytes, sizeof received.bytes))
    refuse("a request lacks a block, of those expected", 1);
  if (received.bytes == BURIN_NULL_BLOCK)
    return received;
  if (received.bytes < 0 || received.bytes > BURIN_MOST_BLOCK_BYTES)
    refuse("a block has bytes:", (long long)received.bytes);
  received.data = allocate(received.bytes);
  if (received.bytes > 0 && !receive(received.data, received.bytes))
    refuse("a block lacks bytes:", (long long)received.bytes);
  return received;
}

static void reply(int64_t status, int64_t value, int64_t block_count) {
  burin_reply head = {status, value, block_count};
  send_bytes(&head, sizeof head);
}

static void send_block(const void *data, int64_t bytes) {
  send_bytes(&bytes, sizeof bytes);
  if (bytes > 0)
    send_bytes(data, bytes);
}

/* ---- What calls need */

/* A list of 64-bit numbers: at least `count` of them, or null. */
static const int64_t *numbers(const block *list, int64_t count) {
  if (list->data && list->bytes < count * (int64_t)sizeof(int64_t))
    refuse("a list of numbers has bytes:", (long long)list->bytes);
  return list->data;
}

static char *text(const block *given) {
  if (given->data && (given->bytes == 0 || ((char *)given->data)[given->bytes - 1] != '\0'))
    refuse("a text is not terminated, of bytes:", (long long)given->bytes);
  return given->data;
}

static burin_model *model_of(const burin_request *request) {
  if (request->model < 0 || request->model >= MOST_MODELS || !models[request->model].model)
    refuse("no model has number", (long long)request->model);
  return models[request->model].model;
}

/* A state of full size, as the runtime is not told its size in every call. */
static void *state_of(const burin_plan *plan, const block *state) {
  if (state->data && state->bytes < plan->state_bytes)
    refuse("a state has bytes:", (long long)state->bytes);
  return state->data;
}

static void *scratch_of(const burin_request *request) {
  if (request->scratch_bytes == BURIN_NULL_BLOCK)
    return NULL;
  if (request->scratch_bytes < 0 || request->scratch_bytes > BURIN_MOST_BLOCK_BYTES)
    refuse("scratch has bytes:", (long long)request->scratch_bytes);
  if (!scratch.data || scratch.bytes < request->scratch_bytes) {
    free(scratch.data);
    scratch.data = allocate(request->scratch_bytes);
    scratch.bytes = request->scratch_bytes;
  }
  return scratch.data;
}

static size_t scratch_bytes_of(const burin_request *request) {
  return request->scratch_bytes < 0 ? 0 : (size_t)request->scratch_bytes;
}

static void require_blocks(const burin_request *request, int64_t expected) {
  if (request->block_count != expected)
    refuse("a request has blocks:", (long long)request->block_count);
}

/* The tensors of an entry's call. */
typedef struct tensors {
  const void *inputs[BURIN_MAX_TENSORS];
  void *outputs[BURIN_MAX_TENSORS];
  const int64_t *output_bytes; /* BURIN_NULL_BLOCK: null */
} tensors;

static tensors tensors_of(const burin_plan_entry *entry, const block *outputs, const block *inputs) {
  tensors of = {{NULL}, {NULL}, numbers(outputs, entry->output_count)};
  for (int32_t i = 0; i < entry->input_count; ++i)
    of.inputs[i] = inputs[i].data;
  for (int32_t i = 0; of.output_bytes && i < entry->output_count; ++i) {
    if (of.output_bytes[i] < BURIN_NULL_BLOCK || of.output_bytes[i] > BURIN_MOST_BLOCK_BYTES)
      refuse("an output has bytes:", (long long)of.output_bytes[i]);
    if (of.output_bytes[i] != BURIN_NULL_BLOCK) {
      of.outputs[i] = allocate(of.output_bytes[i]);
      memset(of.outputs[i], 0xff, (size_t)of.output_bytes[i]); /* what a call leaves out is no number */
    }
  }
  return of;
}

/* Answers a call with the state, where it has one, and with the outputs. */
static void reply_with_outputs(const burin_plan_entry *entry, burin_status status, const block *state, tensors *of) {
  int32_t outputs = status == BURIN_OK && of->output_bytes ? entry->output_count : 0;
  reply(status, 0, outputs + (state ? 1 : 0));
  if (state)
    send_block(state->data, state->bytes);
  for (int32_t i = 0; i < outputs; ++i)
    send_block(of->outputs[i], of->output_bytes[i]);
  for (int32_t i = 0; i < entry->output_count; ++i)
    free(of->outputs[i]);
}

/* ---- Requests */

static void open_model(const burin_plan *plan, const burin_request *request, block *blocks) {
  require_blocks(request, 3);
  if (request->count < 0 || request->count > BURIN_MOST_BLOCK_BYTES)
    refuse("a message has bytes:", (long long)request->count);
  int64_t number = 0;
  while (number < MOST_MODELS && models[number].model)
    ++number;
  if (number == MOST_MODELS)
    refuse("models are open:", MOST_MODELS);
  const int64_t *flags = numbers(&blocks[2], 1);
  if (!flags)
    refuse("the flags have bytes:", BURIN_NULL_BLOCK);
  burin_open_options options;
  memset(&options, 0, sizeof options);
  options.weights = blocks[0].data;
  options.weights_bytes = blocks[0].data ? (size_t)blocks[0].bytes : 0;
  options.weights_path = text(&blocks[1]);
  options.weights_stay = (*flags & BURIN_OPEN_WEIGHTS_STAY) != 0;
  options.copy = (*flags & BURIN_OPEN_COPY) != 0;
  options.verify_content = (*flags & BURIN_OPEN_VERIFY_CONTENT) != 0;
  options.prefault = (*flags & BURIN_OPEN_PREFAULT) != 0;
  options.lock_memory = (*flags & BURIN_OPEN_LOCK_MEMORY) != 0;
  options.allow_extra_tensors = (*flags & BURIN_OPEN_ALLOW_EXTRA_TENSORS) != 0;
  options.message = allocate(request->count + 1);
  options.message[0] = '\0';
  options.message_bytes = (size_t)request->count;
  burin_status status = burin_rt_open(plan, &options, &models[number].model);
  if (status == BURIN_OK && options.weights_stay) {
    models[number].weights = blocks[0].data;
    blocks[0].data = NULL; /* freed with the model */
  }
  reply(status, number, 1);
  const char *said = status == BURIN_OK ? burin_model_isa(models[number].model) : options.message;
  send_block(said, (int64_t)strlen(said) + 1);
  free(options.message);
}

static void close_model(const burin_request *request) {
  require_blocks(request, 0);
  burin_rt_close(model_of(request));
  free(models[request->model].weights);
  models[request->model].model = NULL;
  models[request->model].weights = NULL;
  reply(BURIN_OK, 0, 0);
}

static void forward(const burin_plan *plan, const burin_request *request, const block *blocks) {
  require_blocks(request, 2 + plan->forward->input_count);
  tensors of = tensors_of(plan->forward, &blocks[1], &blocks[2]);
  burin_status status = burin_rt_forward(plan, model_of(request), scratch_of(request), scratch_bytes_of(request),
                                         numbers(&blocks[0], plan->axis_count), of.inputs, of.outputs);
  reply_with_outputs(plan->forward, status, NULL, &of);
}

static void forward_batch(const burin_plan *plan, const burin_request *request, const block *blocks) {
  require_blocks(request, 1 + plan->axis_count + plan->forward->input_count);
  const int64_t *offsets[BURIN_MAX_AXES];
  for (int32_t axis = 0; axis < plan->axis_count; ++axis)
    offsets[axis] = numbers(&blocks[1 + axis], request->number < 0 ? 0 : request->number + 1);
  tensors of = tensors_of(plan->forward, &blocks[0], &blocks[1 + plan->axis_count]);
  burin_status status = burin_rt_forward_batch(plan, model_of(request), scratch_of(request), scratch_bytes_of(request),
                                               request->number, offsets, of.inputs, of.outputs);
  reply_with_outputs(plan->forward, status, NULL, &of);
}

static void reset(const burin_plan *plan, const burin_request *request, const block *blocks) {
  require_blocks(request, 1);
  burin_status status = burin_rt_reset(plan, model_of(request), blocks[0].data,
                                       blocks[0].data ? (size_t)blocks[0].bytes : 0, request->number);
  reply(status, 0, 1);
  send_block(blocks[0].data, blocks[0].bytes);
}

static const burin_plan_entry *entry_of(const burin_plan *plan, int64_t stream) {
  if (stream < 0 || stream >= plan->stream_count)
    refuse("no stream has number", (long long)stream);
  return plan->streams[stream].one;
}

static void step(const burin_plan *plan, const burin_request *request, const block *blocks) {
  const burin_plan_entry *entry = entry_of(plan, 0);
  require_blocks(request, 2 + entry->input_count);
  tensors of = tensors_of(entry, &blocks[1], &blocks[2]);
  burin_status status = burin_rt_step(plan, model_of(request), state_of(plan, &blocks[0]), scratch_of(request),
                                      scratch_bytes_of(request), of.inputs, of.outputs);
  reply_with_outputs(entry, status, &blocks[0], &of);
}

static void advance(const burin_plan *plan, const burin_request *request, const block *blocks) {
  const burin_plan_entry *entry = entry_of(plan, request->number);
  require_blocks(request, 2 + entry->input_count);
  tensors of = tensors_of(entry, &blocks[1], &blocks[2]);
  burin_status status =
      burin_rt_advance(plan, model_of(request), (int32_t)request->number, state_of(plan, &blocks[0]),
                       scratch_of(request), scratch_bytes_of(request), request->count, of.inputs, of.outputs);
  reply_with_outputs(entry, status, &blocks[0], &of);
}

static void state_read(const burin_plan *plan, const burin_request *request, const block *blocks) {
  require_blocks(request, 2);
  if (request->count < 0 || request->count > BURIN_MOST_BLOCK_BYTES / (int64_t)sizeof(float))
    refuse("values to read:", (long long)request->count);
  int64_t rows = 0, bytes = request->count * (int64_t)sizeof(float);
  float *values = request->count ? allocate(bytes) : NULL;
  if (values)
    memset(values, 0xff, (size_t)bytes);
  burin_status status = burin_rt_state_read(plan, model_of(request), state_of(plan, &blocks[0]), text(&blocks[1]),
                                            values, (size_t)request->count, &rows);
  reply(status, rows, 1);
  send_block(values, status == BURIN_OK && values ? bytes : 0);
  free(values);
}

static void state_save(const burin_plan *plan, const burin_request *request, const block *blocks) {
  require_blocks(request, 1);
  if (request->count < 0 || request->count > BURIN_MOST_BLOCK_BYTES)
    refuse("bytes to save:", (long long)request->count);
  size_t bytes = 0;
  void *saved = request->count ? allocate(request->count) : NULL;
  if (saved)
    memset(saved, 0xff, (size_t)request->count);
  burin_status status =
      burin_rt_state_save(plan, model_of(request), state_of(plan, &blocks[0]), saved, (size_t)request->count, &bytes);
  reply(status, (int64_t)bytes, 1);
  send_block(saved, status == BURIN_OK && saved ? (int64_t)bytes : 0);
  free(saved);
}

static void state_load(const burin_plan *plan, const burin_request *request, const block *blocks) {
  require_blocks(request, 2);
  burin_status status =
      burin_rt_state_load(plan, model_of(request), blocks[0].data, blocks[0].data ? (size_t)blocks[0].bytes : 0,
                          blocks[1].data, blocks[1].data ? (size_t)blocks[1].bytes : 0);
  reply(status, 0, 1);
  send_block(blocks[0].data, blocks[0].bytes);
}

static void answer(const burin_plan *plan, const burin_request *request, block *blocks) {
  switch (request->kind) {
  case BURIN_REQUEST_OPEN:
    open_model(plan, request, blocks);
    return;
  case BURIN_REQUEST_CLOSE:
    close_model(request);
    return;
  case BURIN_REQUEST_SCRATCH_BYTES:
    require_blocks(request, 1);
    reply(BURIN_OK, (int64_t)burin_rt_scratch_bytes(plan, numbers(&blocks[0], plan->axis_count), request->number), 0);
    return;
  case BURIN_REQUEST_FORWARD:
    forward(plan, request, blocks);
    return;
  case BURIN_REQUEST_FORWARD_BATCH:
    forward_batch(plan, request, blocks);
    return;
  case BURIN_REQUEST_RESET:
    reset(plan, request, blocks);
    return;
  case BURIN_REQUEST_STEP:
    step(plan, request, blocks);
    return;
  case BURIN_REQUEST_ADVANCE:
    advance(plan, request, blocks);
    return;
  case BURIN_REQUEST_STATE_READ:
    state_read(plan, request, blocks);
    return;
  case BURIN_REQUEST_STATE_SAVE:
    state_save(plan, request, blocks);
    return;
  case BURIN_REQUEST_STATE_LOAD:
    state_load(plan, request, blocks);
    return;
  default:
    refuse("no request has kind", (long long)request->kind);
  }
}

int main(void) {
  const burin_plan *plan = served_plan();
  burin_greeting greeting = {plan->version, plan->fingerprint, plan->graph, plan->weights_bytes, plan->state_bytes};
  reply(BURIN_OK, 0, 1);
  send_block(&greeting, sizeof greeting);
  burin_request request;
  while (receive(&request, sizeof request)) {
    if (request.block_count < 0 || request.block_count > BURIN_MOST_BLOCKS)
      refuse("a request has blocks:", (long long)request.block_count);
    block blocks[BURIN_MOST_BLOCKS];
    for (int64_t i = 0; i < request.block_count; ++i)
      blocks[i] = receive_block();
    answer(plan, &request, blocks);
    for (int64_t i = 0; i < request.block_count; ++i)
      free(blocks[i].data);
  }
  return 0;
}
