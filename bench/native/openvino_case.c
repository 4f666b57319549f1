/* OpenVINO from C: MODEL.onnx with inputs and outputs in place, one thread.
 *
 *     openvino_case MODEL.onnx TENSOR… */
#include "case.h"
#include <openvino/c/openvino.h>

enum { MOST_INPUTS = 4 };

static ov_infer_request_t *request;
static tensor tensors[MOST_INPUTS];
static const tensor *caches;
static int64_t position;
static const float *added;

static void check(ov_status_e status) {
  if (status != OK)
    die("openvino", ov_get_error_info(status));
}

static void call(int number) {
  (void)number;
  check(ov_infer_request_infer(request));
  if (caches)
    append_row(caches, added, position);
}

static void give(const tensor *input) {
  ov_shape_t shape;
  ov_tensor_t *made = NULL;
  check(ov_shape_create(input->rank, input->sizes, &shape));
  check(ov_tensor_create_from_host_ptr(input->is_float ? F32 : I64, shape, input->data, &made));
  check(ov_infer_request_set_tensor(request, input->name, made));
}

static float *output(const char *name) {
  ov_tensor_t *tensor = NULL;
  void *data = NULL;
  check(ov_infer_request_get_tensor(request, name, &tensor));
  check(ov_tensor_data(tensor, &data));
  return data;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc - 2 > MOST_INPUTS)
    die("usage", "openvino_case MODEL.onnx TENSOR...");
  ov_core_t *core = NULL;
  ov_compiled_model_t *compiled = NULL;
  check(ov_core_create(&core));
  check(ov_core_compile_model_from_file(core, argv[1], "CPU", 8, &compiled, "PERFORMANCE_HINT", "LATENCY",
                                        "INFERENCE_NUM_THREADS", "1", "INFERENCE_PRECISION_HINT", "f32", "NUM_STREAMS",
                                        "1"));
  check(ov_compiled_model_create_infer_request(compiled, &request));
  int count = argc - 2;
  for (int i = 0; i < count; ++i) {
    tensors[i] = read_tensor(argv[2 + i]);
    give(&tensors[i]);
  }
  call(0);
  const tensor *step_caches = tensor_named(tensors, count, "caches");
  if (step_caches) {
    added = output("new");
    position = *(const int64_t *)tensor_named(tensors, count, "position")->data;
    caches = step_caches;
  }
  subject timed = {call, NULL, 1};
  serve(&timed, output("y"), atoi(getenv("OUTPUTS")));
  return 0;
}
