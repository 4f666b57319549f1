/* A model on a GPU, through the device interface of Halide's runtime; compiled once for each API.
 *
 * Every piece of memory is one allocation on the device, and arguments are crops of it. Rejected: buffers of Halide
 * that copy themselves when they are dirty; each kernel call would look at every buffer, and a refilled input would
 * have to be marked by the caller.
 *
 * Some APIs bind a buffer only at aligned places. An argument elsewhere (the rows of one sequence of a batch) is copied
 * to an aligned place on the device and, where the kernel may have written it, back. Values of the state are all
 * aligned: the row that a kernel writes lies in the cache that it reads, and a copy of the whole would undo it.
 */
#include "../device.h"
#include "../call.h"

#include <HalideRuntime.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* BURIN_GPU_INTERFACE: the API's, a function of Halide's runtime. BURIN_GPU_TABLE: the name of the table below.
 * BURIN_GPU_ALIGNMENT: of the places where the API binds a buffer, in bytes. */
extern const struct halide_device_interface_t *BURIN_GPU_INTERFACE(void);
extern const burin_device_api BURIN_GPU_TABLE;

/* Memory on the device, as bytes; Halide counts them with 32 bits. */
typedef struct memory {
  struct halide_buffer_t buffer;
  halide_dimension_t dimension;
} memory;

typedef struct state_copy {
  struct state_copy *next;
  const burin_state_header *host;
  size_t bytes;
  uint64_t number; /* stands in the header, lest another state's bytes pass for this one */
  memory memory;
} state_copy;

typedef struct gpu_model {
  burin_device device;
  pthread_mutex_t lock; /* of the lists */
  const unsigned char *weights;
  size_t weights_bytes;
  memory weights_copy;
  struct gpu_call *idle;
  state_copy *states;
  uint64_t state_number;
} gpu_model;

/* A piece of host memory and its place. */
typedef struct range {
  const unsigned char *host;
  size_t bytes;
  memory *memory;
  size_t place;
} range;

enum { MOST_RANGES = 2 * BURIN_MAX_TENSORS + 3 };

typedef struct gpu_call {
  burin_device_call call;
  struct gpu_call *next;
  gpu_model *model;
  memory working; /* scratch, inputs, outputs */
  memory aligned; /* for arguments that must be copied */
  const range *outputs;
  int32_t output_count;
  int32_t range_count;
  range ranges[MOST_RANGES];
} gpu_call;

static size_t round_up(size_t bytes) {
  return (bytes + (BURIN_GPU_ALIGNMENT - 1)) / BURIN_GPU_ALIGNMENT * BURIN_GPU_ALIGNMENT;
}

static void describe_bytes(memory *m, size_t first, size_t bytes) {
  memset(m, 0, sizeof *m);
  m->dimension.min = (int32_t)first;
  m->dimension.extent = (int32_t)bytes;
  m->dimension.stride = 1;
  m->buffer.type.code = halide_type_uint;
  m->buffer.type.bits = 8;
  m->buffer.type.lanes = 1;
  m->buffer.dimensions = 1;
  m->buffer.dim = &m->dimension;
}

static int reserve(memory *m, size_t bytes) {
  if (m->buffer.device && (size_t)m->dimension.extent >= bytes)
    return 1;
  if (m->buffer.device)
    halide_device_free(NULL, &m->buffer);
  m->buffer.device = 0;
  bytes = round_up(bytes ? bytes : 1);
  if (bytes > INT32_MAX)
    return 0;
  describe_bytes(m, 0, bytes);
  return halide_device_malloc(NULL, &m->buffer, BURIN_GPU_INTERFACE()) == 0;
}

static void release(memory *m) {
  if (m->buffer.device)
    halide_device_free(NULL, &m->buffer);
}

static int crop(memory *m, size_t place, size_t bytes, memory *part) {
  describe_bytes(part, place, bytes);
  return halide_device_crop(NULL, &m->buffer, &part->buffer) == 0;
}

typedef enum direction { TO_DEVICE, TO_HOST } direction;

static burin_status copy(memory *m, size_t place, const void *host, size_t bytes, direction direction) {
  if (bytes == 0)
    return BURIN_OK;
  memory part;
  if (!crop(m, place, bytes, &part))
    return BURIN_KERNEL_FAILED;
  part.buffer.host = (uint8_t *)(uintptr_t)host;
  part.buffer.flags = direction == TO_DEVICE ? halide_buffer_flag_host_dirty : halide_buffer_flag_device_dirty;
  int error = direction == TO_DEVICE ? halide_copy_to_device(NULL, &part.buffer, NULL)
                                     : halide_copy_to_host(NULL, &part.buffer);
  halide_device_release_crop(NULL, &part.buffer);
  return error == 0 ? BURIN_OK : BURIN_KERNEL_FAILED;
}

static void on_error(void *user_context, const char *message) { burin_rt_error(user_context, message); }

/* ---- Models and states ---- */

static void close_device(burin_device *device) {
  gpu_model *model = (gpu_model *)device;
  while (model->idle) {
    gpu_call *call = model->idle;
    model->idle = call->next;
    release(&call->working);
    release(&call->aligned);
    free(call);
  }
  while (model->states) {
    state_copy *state = model->states;
    model->states = state->next;
    release(&state->memory);
    free(state);
  }
  release(&model->weights_copy);
  pthread_mutex_destroy(&model->lock);
  free(model);
}

static burin_device *open_device(const void *weights, size_t bytes) {
  gpu_model *model = (gpu_model *)calloc(1, sizeof *model);
  if (!model)
    return NULL;
  model->device.api = &BURIN_GPU_TABLE;
  halide_set_error_handler(on_error); /* Halide's own would end the program */
  pthread_mutex_init(&model->lock, NULL);
  model->weights = (const unsigned char *)weights;
  model->weights_bytes = bytes;
  if (!reserve(&model->weights_copy, bytes) || copy(&model->weights_copy, 0, weights, bytes, TO_DEVICE) != BURIN_OK) {
    close_device(&model->device);
    return NULL;
  }
  return &model->device;
}

/* The device's copy of a state; null where it has none of this one. */
static state_copy *find_state(gpu_model *model, const void *state) {
  const burin_state_header *header = (const burin_state_header *)state;
  pthread_mutex_lock(&model->lock);
  state_copy *found = model->states;
  while (found && found->host != header)
    found = found->next;
  pthread_mutex_unlock(&model->lock);
  return found && found->number == header->reserved[0] ? found : NULL;
}

static burin_status write_state(burin_device *device, void *state, size_t bytes) {
  gpu_model *model = (gpu_model *)device;
  burin_state_header *header = (burin_state_header *)state;
  pthread_mutex_lock(&model->lock);
  state_copy *found = model->states;
  while (found && found->host != header)
    found = found->next;
  if (!found && (found = (state_copy *)calloc(1, sizeof *found)) != NULL) {
    found->host = header;
    found->next = model->states;
    model->states = found;
  }
  if (found)
    header->reserved[0] = found->number = ++model->state_number;
  pthread_mutex_unlock(&model->lock);
  if (!found || !reserve(&found->memory, bytes))
    return BURIN_OUT_OF_MEMORY;
  found->bytes = bytes;
  return copy(&found->memory, 0, state, bytes, TO_DEVICE);
}

static burin_status read_state(burin_device *device, const void *state) {
  state_copy *found = find_state((gpu_model *)device, state);
  if (!found)
    return BURIN_STATE_FOREIGN;
  /* The header is the host's. */
  return copy(&found->memory, BURIN_STATE_HEADER_BYTES, (const unsigned char *)state + BURIN_STATE_HEADER_BYTES,
              found->bytes - BURIN_STATE_HEADER_BYTES, TO_HOST);
}

/* ---- Calls ---- */

static range *add_range(gpu_call *call, const void *host, size_t bytes, memory *m, size_t *place) {
  range *added = &call->ranges[call->range_count++];
  added->host = (const unsigned char *)host;
  added->bytes = bytes;
  added->memory = m;
  added->place = *place;
  *place += round_up(bytes);
  return added;
}

static gpu_call *take_call(gpu_model *model) {
  pthread_mutex_lock(&model->lock);
  gpu_call *call = model->idle;
  if (call)
    model->idle = call->next;
  pthread_mutex_unlock(&model->lock);
  return call ? call : (gpu_call *)calloc(1, sizeof *call);
}

static void leave_call(gpu_call *call) {
  pthread_mutex_lock(&call->model->lock);
  call->next = call->model->idle;
  call->model->idle = call;
  pthread_mutex_unlock(&call->model->lock);
}

static burin_status begin_call(burin_device *device, const burin_device_memory *given, burin_device_call **begun) {
  gpu_model *model = (gpu_model *)device;
  state_copy *state = given->state ? find_state(model, given->state) : NULL;
  if (given->state && !state)
    return BURIN_STATE_FOREIGN;
  gpu_call *call = take_call(model);
  if (!call)
    return BURIN_OUT_OF_MEMORY;
  call->call.api = &BURIN_GPU_TABLE;
  call->model = model;
  call->range_count = 0;
  size_t place = 0;
  add_range(call, model->weights, model->weights_bytes, &model->weights_copy, &place);
  place = 0;
  if (state)
    add_range(call, state->host, state->bytes, &state->memory, &place);
  place = 0;
  add_range(call, given->scratch.memory, given->scratch.bytes, &call->working, &place);
  range *inputs = &call->ranges[call->range_count];
  for (int32_t i = 0; i < given->input_count; ++i)
    add_range(call, given->inputs[i].memory, given->inputs[i].bytes, &call->working, &place);
  call->outputs = &call->ranges[call->range_count];
  call->output_count = given->output_count;
  for (int32_t i = 0; i < given->output_count; ++i)
    add_range(call, given->outputs[i].memory, given->outputs[i].bytes, &call->working, &place);
  burin_status status = reserve(&call->working, place) ? BURIN_OK : BURIN_OUT_OF_MEMORY;
  for (int32_t i = 0; i < given->input_count && status == BURIN_OK; ++i)
    status = copy(&call->working, inputs[i].place, inputs[i].host, inputs[i].bytes, TO_DEVICE);
  if (status == BURIN_OK)
    *begun = &call->call;
  else
    leave_call(call);
  return status;
}

/* The range that holds a piece of host memory; the last place for memory of 0 bytes, which may be anywhere. */
static const range *range_of(const gpu_call *call, const unsigned char *host) {
  for (int32_t i = 0; i < call->range_count; ++i)
    if ((uintptr_t)host - (uintptr_t)call->ranges[i].host < call->ranges[i].bytes)
      return &call->ranges[i];
  return NULL;
}

static burin_status upload(burin_device_call *device_call, const void *scratch, size_t bytes) {
  const gpu_call *call = (const gpu_call *)device_call;
  const range *found = range_of(call, (const unsigned char *)scratch);
  if (!found)
    return bytes == 0 ? BURIN_OK : BURIN_KERNEL_FAILED;
  return copy(found->memory, found->place + (size_t)((const unsigned char *)scratch - found->host), scratch, bytes,
              TO_DEVICE);
}

/* From the first element that the buffer describes to behind the last. */
static size_t bytes_of(const burin_kernel_buffer *buffer) {
  int64_t last = 0;
  for (int32_t d = 0; d < buffer->dimensions; ++d) {
    if (buffer->dim[d].extent <= 0)
      return 0;
    last += (int64_t)(buffer->dim[d].extent - 1) * buffer->dim[d].stride;
  }
  return (size_t)(last + 1) * (buffer->type.bits / 8);
}

static int is_buffer(int32_t kind) {
  return kind != BURIN_ARG_CONTEXT && kind != BURIN_ARG_POSITION && kind != BURIN_ARG_COUNT &&
         kind != BURIN_ARG_FIRST_TILE;
}

static int may_be_written(int32_t kind) {
  return kind == BURIN_ARG_OUTPUT || kind == BURIN_ARG_SCRATCH || kind == BURIN_ARG_STATE_ROW;
}

/* An argument on the device: where it is, and where the kernel finds it. */
typedef struct bound {
  memory there, aligned;
  burin_kernel_buffer *buffer;
} bound;

/* Copies between places on the device. */
static int copy_on_device(memory *from, memory *to) {
  memory source = *from, target = *to;
  source.buffer.dim = &source.dimension;
  target.buffer.dim = &target.dimension;
  source.dimension.min = target.dimension.min = 0;
  source.buffer.flags = halide_buffer_flag_device_dirty;
  return halide_buffer_copy(NULL, &source.buffer, BURIN_GPU_INTERFACE(), &target.buffer) == 0;
}

static int bind(gpu_call *call, int32_t kind, burin_kernel_buffer *buffer, bound *argument, size_t *aligned_used) {
  size_t bytes = bytes_of(buffer);
  memset(argument, 0, sizeof *argument);
  argument->buffer = buffer;
  const range *found = bytes != 0 ? range_of(call, buffer->host) : NULL;
  if (bytes != 0 && !found)
    return 0;
  size_t place = found ? found->place + (size_t)(buffer->host - found->host) : 0;
  if (!crop(found ? found->memory : &call->working, place, bytes ? bytes : 1, &argument->there))
    return 0;
  memory *used = &argument->there;
  if (place % BURIN_GPU_ALIGNMENT != 0) {
    if (kind == BURIN_ARG_STATE)
      return 0;
    if (!crop(&call->aligned, *aligned_used, bytes, &argument->aligned) ||
        !copy_on_device(&argument->there, &argument->aligned))
      return 0;
    *aligned_used += round_up(bytes);
    used = &argument->aligned;
  }
  buffer->host = NULL;
  buffer->device = used->buffer.device;
  buffer->device_interface = used->buffer.device_interface;
  return 1;
}

/* Room for every argument that may have to be copied. */
static int reserve_aligned(gpu_call *call, const burin_plan_call *kernel, void **arguments) {
  size_t bytes = 0;
  if (BURIN_GPU_ALIGNMENT > 1)
    for (int32_t i = 0; i < kernel->argument_count; ++i)
      if (is_buffer(kernel->arguments[i].kind))
        bytes += round_up(bytes_of((const burin_kernel_buffer *)arguments[i]));
  return bytes == 0 || reserve(&call->aligned, bytes);
}

static int run_kernel(burin_device_call *device_call, const burin_plan_call *kernel, void **arguments) {
  gpu_call *call = (gpu_call *)device_call;
  bound bounds[BURIN_MAX_ARGUMENTS];
  int32_t count = 0;
  size_t aligned_used = 0;
  int good = reserve_aligned(call, kernel, arguments);
  for (int32_t i = 0; i < kernel->argument_count && good; ++i)
    if (is_buffer(kernel->arguments[i].kind))
      good =
          bind(call, kernel->arguments[i].kind, (burin_kernel_buffer *)arguments[i], &bounds[count++], &aligned_used);
  int error = good ? kernel->kernel(arguments) : 1;
  for (int32_t i = 0, b = 0; i < kernel->argument_count && b < count; ++i) {
    if (!is_buffer(kernel->arguments[i].kind))
      continue;
    bound *argument = &bounds[b++];
    if (argument->aligned.buffer.device) {
      if (error == 0 && may_be_written(kernel->arguments[i].kind) &&
          !copy_on_device(&argument->aligned, &argument->there))
        error = 1;
      halide_device_release_crop(NULL, &argument->aligned.buffer);
    }
    if (argument->there.buffer.device)
      halide_device_release_crop(NULL, &argument->there.buffer);
  }
  return error;
}

static burin_status end_call(burin_device_call *device_call, burin_status status) {
  gpu_call *call = (gpu_call *)device_call;
  for (int32_t i = 0; i < call->output_count && status == BURIN_OK; ++i)
    status = copy(&call->working, call->outputs[i].place, call->outputs[i].host, call->outputs[i].bytes, TO_HOST);
  leave_call(call);
  return status;
}

const burin_device_api BURIN_GPU_TABLE = {open_device, close_device, begin_call,  upload,
                                          run_kernel,  end_call,     write_state, read_state};
