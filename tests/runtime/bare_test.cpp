// The runtime without an operating system: what it refuses, each in a sentence. Linked with burin_runtime_bare.
#include "packed_weights.h"

using namespace burin_test;

namespace {

void expect_refused(const burin_open_options &options, burin_status status, const char *sentence) {
  Opened opened = open_with(two_tensors_plan(), options);
  EXPECT_EQ(opened.status, status);
  EXPECT_EQ(opened.message, sentence);
  EXPECT_EQ(opened.model, nullptr);
}

struct Packed {
  AlignedMemory bytes{sizeof(burin_packed_header) + 80};
  Packed() {
    burin_packed_header header;
    burin_plan plan = two_tensors_plan();
    burin_packed_make_header(&header, &plan, 0);
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  burin_open_options options() const {
    burin_open_options options = {};
    options.weights = bytes.data();
    options.weights_bytes = bytes.size();
    options.weights_stay = 1;
    return options;
  }
};

TEST(Bare, has_no_files) {
  burin_open_options options = {};
  options.weights_path = "policy.packed";
  expect_refused(options, BURIN_FILE_UNREADABLE,
                 "cannot open 'policy.packed': without an operating system there are no files, expected `weights`, the "
                 "bytes of a packed file");
}

TEST(Bare, reads_no_safetensors) {
  std::string file = two_tensors();
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  expect_refused(
      options, BURIN_FILE_MALFORMED,
      "the weights do not begin with BURINPK1: without an operating system they come as a packed file, which "
      "`burin pack` makes of a safetensors file");
}

TEST(Bare, has_no_threads) {
  Packed packed;
  for (bool pooled : {false, true}) {
    burin_workers workers = {};
    burin_open_options options = packed.options();
    AlignedMemory memory(128);
    options.memory = memory.data();
    options.memory_bytes = memory.size();
    options.threads = pooled ? 0 : 2;
    options.workers = pooled ? &workers : nullptr;
    expect_refused(options, BURIN_NO_WORKERS,
                   "without an operating system there are no threads: `threads` or `workers` is set");
  }
}

TEST(Bare, has_no_heap) {
  Packed packed;
  burin_open_options options = packed.options();
  expect_refused(options, BURIN_OUT_OF_MEMORY,
                 "without an operating system there is no heap, and memory for the model is not given: `memory` is "
                 "null, expected 128 bytes");
  options.weights_stay = 0;
  expect_refused(options, BURIN_OUT_OF_MEMORY,
                 "without an operating system there is no heap, and memory for the model is not given: `memory` is "
                 "null, expected 208 bytes");
}

TEST(Bare, locks_nothing) {
  Packed packed;
  AlignedMemory memory(BURIN_MODEL_BYTES);
  burin_open_options options = packed.options();
  options.memory = memory.data();
  options.memory_bytes = memory.size();
  options.prefault = 1; /* everything is there */
  EXPECT_EQ(open_with(two_tensors_plan(), options).status, BURIN_OK);
  options.lock_memory = 1;
  expect_refused(options, BURIN_MEMORY_NOT_LOCKED,
                 "without an operating system there are no pages to lock: `lock_memory` is set");
}

TEST(Bare, a_graph_without_parameters_needs_no_weights) {
  AlignedMemory memory(BURIN_MODEL_BYTES);
  burin_open_options options = {};
  options.memory = memory.data();
  options.memory_bytes = memory.size();
  burin_plan plan = {};
  plan.version = BURIN_PLAN_VERSION;
  EXPECT_EQ(open_with(plan, options).status, BURIN_OK);
}

} // namespace
