/* Sizes that 32 bits do not hold: they are refused, or stick at the largest size, and never come round to a small one.
 * Linked with the runtime for WebAssembly; prints what differs from what is expected.
 */
#include "burin_plan.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what, unsigned long long found) {
  if (holds)
    return;
  printf("expected that %s, found %llu\n", what, found);
  ++failures;
}

static const burin_plan_axis axes[1] = {{"time", INT64_C(1) << 40}};

/* 16 bytes of scratch and one float of input for each row. */
static burin_plan plan_with(const burin_plan_entry *forward) {
  burin_plan plan = {0};
  plan.version = BURIN_PLAN_VERSION;
  plan.name = "sizes";
  plan.target = "wasm";
  plan.axis_count = 1;
  plan.axes = axes;
  plan.forward = forward;
  return plan;
}

static void scratch_of_too_many_rows_is_larger_than_memory(void) {
  burin_plan_entry forward = {0};
  forward.scratch_row_bytes[0] = 16;
  burin_plan plan = plan_with(&forward);
  const struct {
    int64_t rows;
    size_t bytes;
  } cases[] = {{10, 160},
               {(INT64_C(1) << 28) - 4, SIZE_MAX - 63},
               {INT64_C(1) << 28, SIZE_MAX}, /* 2^32 bytes */
               {(INT64_C(1) << 32) + 10, SIZE_MAX},
               {INT64_C(1) << 39, SIZE_MAX}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    size_t found = burin_rt_scratch_bytes(&plan, &cases[i].rows, 1);
    expect(found == cases[i].bytes, "scratch bytes are those of the table", (unsigned long long)found);
  }
  forward.scratch_row_bytes[0] = 0;
  forward.kernel_scratch_bytes = (INT64_C(1) << 32) + 64;
  const int64_t one = 1;
  size_t found = burin_rt_scratch_bytes(&plan, &one, 1);
  expect(found == SIZE_MAX, "scratch bytes of a kernel stick", (unsigned long long)found);
}

static void model_that_cannot_be_addressed_is_refused(void) {
  const burin_plan_entry forward = {0};
  burin_plan plan = plan_with(&forward);
  char message[200] = "";
  burin_open_options options = {0};
  burin_model *model = NULL;
  options.message = message;
  options.message_bytes = sizeof message;
  expect(burin_rt_open(&plan, &options, &model) == BURIN_OK, "a small model is opened", 0);
  burin_rt_close(model);
  plan.weights_bytes = (INT64_C(1) << 32) + 64;
  burin_status status = burin_rt_open(&plan, &options, &model);
  expect(status == BURIN_OUT_OF_MEMORY, "4 GiB of weights are refused", (unsigned long long)status);
  expect(strcmp(message, "4294967360 bytes of packed weights are more than a program here can address") == 0, message,
         0);
  plan.weights_bytes = 0;
  plan.state_bytes = INT64_C(1) << 33;
  status = burin_rt_open(&plan, &options, &model);
  expect(status == BURIN_OUT_OF_MEMORY, "8 GiB of state are refused", (unsigned long long)status);
  expect(strcmp(message, "8589934592 bytes of state are more than a program here can address") == 0, message, 0);
}

static void more_rows_than_scratch_has_room_for_are_refused(void) {
  const burin_plan_tensor input = {"x", BURIN_F32, 0, BURIN_AXIS_NONE, 0, 1, 1};
  burin_plan_entry forward = {0};
  forward.inputs = &input;
  forward.input_count = 1;
  forward.scratch_row_bytes[0] = 16;
  burin_plan plan = plan_with(&forward);
  burin_open_options options = {0};
  burin_model *model = NULL;
  expect(burin_rt_open(&plan, &options, &model) == BURIN_OK, "the model is opened", 0);
  static _Alignas(64) unsigned char scratch[256];
  static const float x[4];
  const void *inputs[1] = {x};
  const int64_t rows = (INT64_C(1) << 32) + 1; /* as 32 bits one row, for which there is room */
  burin_status status = burin_rt_forward(&plan, model, scratch, sizeof scratch, &rows, inputs, NULL);
  expect(status != BURIN_OK, "forward of 2^32 + 1 rows is refused", (unsigned long long)status);
  burin_rt_close(model);
}

static void threads_and_locks_are_refused_with_a_sentence(void) {
  const burin_plan_entry forward = {0};
  burin_plan plan = plan_with(&forward);
  char message[200] = "";
  burin_open_options options = {0};
  burin_model *model = NULL;
  options.message = message;
  options.message_bytes = sizeof message;
  options.threads = 2;
  expect(burin_rt_open(&plan, &options, &model) == BURIN_NO_WORKERS, "two threads are refused", 0);
  expect(strcmp(message, "2 threads are asked for, and cannot be started") == 0, message, 0);
  expect(burin_pool_create(2, NULL) == NULL, "there is no pool", 0);
  options.threads = 0;
  options.lock_memory = 1;
  expect(burin_rt_open(&plan, &options, &model) == BURIN_MEMORY_NOT_LOCKED, "a lock is refused", 0);
  expect(strcmp(message, "WASI cannot lock pages of memory: `lock_memory` is set") == 0, message, 0);
}

int main(void) {
  scratch_of_too_many_rows_is_larger_than_memory();
  model_that_cannot_be_addressed_is_refused();
  more_rows_than_scratch_has_room_for_are_refused();
  threads_and_locks_are_refused_with_a_sentence();
  if (failures == 0)
    printf("sizes: ok\n");
  return failures != 0;
}
