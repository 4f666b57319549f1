/* ONNX Runtime from C: MODEL.onnx with inputs and outputs in place, one thread.
 *
 *     onnxruntime_case MODEL.onnx TENSOR…
 *
 * Its wheel has the library and no header. The interface is a table of functions whose order it promises never to
 * change; the few that are called stand here with their place in it. */
#include "case.h"

typedef struct OrtApiBase {
  const void *(*GetApi)(uint32_t version);
  const char *(*GetVersionString)(void);
} OrtApiBase;
const OrtApiBase *OrtGetApiBase(void);

typedef void *status; /* null: all is well */
typedef status (*create_env)(int log_level, const char *name, void **env);
typedef status (*create_session)(const void *env, const char *path, const void *options, void **session);
typedef status (*run)(void *session, const void *options, const char *const *names, const void *const *inputs,
                      size_t input_count, const char *const *output_names, size_t output_count, void **outputs);
typedef status (*create)(void **made);
typedef status (*set_number)(void *options, int value);
typedef status (*create_tensor)(const void *info, void *data, size_t bytes, const int64_t *sizes, size_t rank, int type,
                                void **value);
typedef status (*mutable_data)(void *value, void **data);
typedef status (*create_cpu_info)(int allocator, int memory, void **info);
typedef const char *(*message_of)(const void *status);

enum {
  API_VERSION = 1,
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  CREATE_SESSION = 7,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  SET_GRAPH_OPTIMIZATION_LEVEL = 23,
  SET_INTRA_OP_THREADS = 24,
  CREATE_TENSOR_WITH_DATA = 49,
  GET_TENSOR_MUTABLE_DATA = 51,
  CREATE_CPU_MEMORY_INFO = 69,
  LOG_ERRORS = 3,
  OPTIMIZE_ALL = 99,
  TYPE_FLOAT = 1,
  TYPE_INT64 = 7,
  ARENA_ALLOCATOR = 1,
  MEMORY_DEFAULT = 0,
  MOST_INPUTS = 4
};

static void *const *api;
static void *session;
static const char *names[MOST_INPUTS];
static void *inputs[MOST_INPUTS], *outputs[2];
static tensor tensors[MOST_INPUTS];
static int count, output_count;
static const tensor *caches;
static int64_t position;
static const float *added;
static const char *const output_names[] = {"y", "new"};

#define CALL(type, place, ...) check(((type)api[place])(__VA_ARGS__))

static void check(status failed) {
  if (failed)
    die("onnxruntime", ((message_of)api[GET_ERROR_MESSAGE])(failed));
}

static void call(int number) {
  (void)number;
  CALL(run, RUN, session, NULL, names, (const void *const *)inputs, (size_t)count, output_names, (size_t)output_count,
       outputs);
  if (caches)
    append_row(caches, added, position);
}

int main(int argc, char **argv) {
  if (argc < 3 || argc - 2 > MOST_INPUTS)
    die("usage", "onnxruntime_case MODEL.onnx TENSOR...");
  api = OrtGetApiBase()->GetApi(API_VERSION);
  if (!api)
    die("onnxruntime", "version 1 of its interface is gone");
  void *env = NULL, *options = NULL, *info = NULL, *y = NULL;
  CALL(create_env, CREATE_ENV, LOG_ERRORS, "bench", &env);
  CALL(create, CREATE_SESSION_OPTIONS, &options);
  CALL(set_number, SET_INTRA_OP_THREADS, options, 1);
  CALL(set_number, SET_GRAPH_OPTIMIZATION_LEVEL, options, OPTIMIZE_ALL);
  CALL(create_session, CREATE_SESSION, env, argv[1], options, &session);
  CALL(create_cpu_info, CREATE_CPU_MEMORY_INFO, ARENA_ALLOCATOR, MEMORY_DEFAULT, &info);
  count = argc - 2;
  for (int i = 0; i < count; ++i) {
    tensors[i] = read_tensor(argv[2 + i]);
    names[i] = tensors[i].name;
    CALL(create_tensor, CREATE_TENSOR_WITH_DATA, info, tensors[i].data, tensors[i].bytes, tensors[i].sizes,
         (size_t)tensors[i].rank, tensors[i].is_float ? TYPE_FLOAT : TYPE_INT64, &inputs[i]);
  }
  const tensor *step_caches = tensor_named(tensors, count, "caches");
  output_count = step_caches ? 2 : 1;
  call(0); /* makes the outputs, which later calls write again */
  if (step_caches) {
    void *data = NULL;
    CALL(mutable_data, GET_TENSOR_MUTABLE_DATA, outputs[1], &data);
    added = data;
    position = *(const int64_t *)tensor_named(tensors, count, "position")->data;
    caches = step_caches;
  }
  CALL(mutable_data, GET_TENSOR_MUTABLE_DATA, outputs[0], &y);
  subject timed = {call, NULL, 1};
  serve(&timed, y, atoi(getenv("OUTPUTS")));
  return 0;
}
