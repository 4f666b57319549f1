/* What a fresh process needs to open a model and to have its first result, for `burin bench --start-up`.
 *
 *   burin-start-up-probe MODEL.so NAME WEIGHTS ROWS
 *
 * prints "<seconds to open> <seconds to the first result> <most resident memory in bytes>", or one sentence on stderr.
 * A program of its own, and not the tool started again: the tool's process holds MLIR, LLVM and Halide, beside which a
 * model's memory would not be seen. Loading the library is not timed, because programs link the object.
 */
#define _POSIX_C_SOURCE 200809L
#include "burin_plan.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  return 1;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Not getrusage: Linux counts there what the parent held before exec. */
static int64_t most_resident_bytes(void) {
  char line[256];
  int64_t kibibytes = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %" SCNd64, &kibibytes) == 1)
      break;
  if (file)
    fclose(file);
  return kibibytes * 1024;
}

static int64_t rows_of(const burin_plan_tensor *tensor, int64_t rows) {
  return (tensor->row_axis >= 0 ? rows : 1) * tensor->rows_each;
}

/* Ids from all over their table, masks that allow everything, small numbers. */
static void *make_input(const burin_plan_tensor *input, int64_t rows) {
  int64_t count = rows_of(input, rows) * (input->column_axis >= 0 ? rows : input->columns);
  int32_t limit = input->limit > 0 ? input->limit : 1;
  float *floats = malloc((size_t)count * sizeof(float) + 1);
  int32_t *ids = (int32_t *)(void *)floats;
  if (!floats)
    return NULL;
  if (input->type == BURIN_U8) {
    memset(floats, 1, (size_t)count);
    return floats;
  }
  for (int64_t i = 0; i < count; ++i)
    if (input->type == BURIN_I32)
      ids[i] = (int32_t)(i * 7919 % limit);
    else
      floats[i] = (float)(i % 17) / 8 - 1;
  return floats;
}

int main(int argc, char **argv) {
  if (argc != 5)
    return fail("usage", "burin-start-up-probe MODEL.so NAME WEIGHTS ROWS");
  int64_t rows = strtoll(argv[4], NULL, 10);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(argv[1], dlerror());
  char symbol[256];
  snprintf(symbol, sizeof symbol, "%s_plan", argv[2]);
  const burin_plan *(*plan_of)(void);
  *(void **)&plan_of = dlsym(library, symbol);
  if (!plan_of)
    return fail(argv[1], dlerror());
  const burin_plan *plan = plan_of();
  if (plan->version != BURIN_PLAN_VERSION)
    return fail(argv[1], "the plan has another version than this program");

  const burin_plan_entry *forward = plan->forward;
  const void *inputs[BURIN_MAX_TENSORS];
  void *outputs[BURIN_MAX_TENSORS];
  int64_t lengths[BURIN_MAX_AXES];
  for (int32_t axis = 0; axis < BURIN_MAX_AXES; ++axis)
    lengths[axis] = rows;
  for (int32_t i = 0; i < forward->input_count; ++i)
    if (!(inputs[i] = make_input(&forward->inputs[i], rows)))
      return fail("inputs", "out of memory");
  for (int32_t i = 0; i < forward->output_count; ++i)
    if (!(outputs[i] = malloc((size_t)(rows_of(&forward->outputs[i], rows) * forward->outputs[i].columns) * 4)))
      return fail("outputs", "out of memory");

  char message[512] = "";
  burin_open_options options = {0};
  options.weights_path = argv[3];
  options.allow_extra_tensors = 1;
  options.message = message;
  options.message_bytes = sizeof message;
  burin_model *model = NULL;
  double start = now();
  burin_status status = burin_rt_open(plan, &options, &model);
  double opened = now();
  if (status != BURIN_OK)
    return fail(argv[3], *message ? message : burin_status_text(status));
  size_t scratch_bytes = (burin_rt_scratch_bytes(plan, lengths, 1) + 63) / 64 * 64;
  void *scratch = NULL;
  if (posix_memalign(&scratch, 64, scratch_bytes > 0 ? scratch_bytes : 64))
    return fail("scratch", "out of memory");
  status = burin_rt_forward(plan, model, scratch, scratch_bytes, lengths, inputs, outputs);
  double finished = now();
  if (status != BURIN_OK)
    return fail("forward", burin_status_text(status));
  printf("%.9f %.9f %" PRId64 "\n", opened - start, finished - start, most_resident_bytes());
  return 0;
}
