// Opening: the file's tensors against the graph's parameters, the packed layouts, files on disk, and the processor.
#include "hand_made_plans.h"

#include "private.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace burin_test;

// A sanitizer's allocator is to refuse what no machine has as the real one does, not to end the program.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }

namespace {

using Floats = std::vector<float>;

struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  Floats values;
  std::string type = "F32";
};

std::string file_of(const std::vector<Tensor> &tensors) {
  std::string header = "{", data;
  for (const Tensor &tensor : tensors) {
    std::string shape;
    size_t count = 1;
    for (int64_t extent : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
      count *= size_t(extent);
    }
    std::string bytes = float_bytes(tensor.values);
    bytes.resize(count * (tensor.type == "F32" ? 4 : tensor.type == "I64" ? 8 : 2));
    header += (header.size() > 1 ? ",\"" : "\"") + tensor.name + R"(":{"dtype":")" + tensor.type + R"(","shape":[)" +
              shape + R"(],"data_offsets":[)" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + bytes.size()) + "]}";
    data += bytes;
  }
  return file_with(header + "}", data);
}

const burin_plan_entry no_calls = {};

burin_plan plan_with(const std::vector<burin_plan_parameter> &parameters,
                     const std::vector<burin_plan_segment> &segments, int64_t weights_bytes) {
  burin_plan plan = {};
  plan.version = BURIN_PLAN_VERSION;
  plan.target = "x86-64-avx512";
  plan.forward = &no_calls;
  plan.parameters = parameters.data();
  plan.parameter_count = int32_t(parameters.size());
  plan.segments = segments.data();
  plan.segment_count = int32_t(segments.size());
  plan.weights_bytes = weights_bytes;
  return plan;
}

const std::vector<burin_plan_parameter> encoder_parameters = {
    {"embed.W", 2, 0, {4, 32}}, {"embed.b", 1, 0, {32, 1}}, {"head.W", 2, 0, {32, 3}}, {"head.b", 1, 0, {3, 1}}};

burin_plan encoder_plan() { return plan_with(encoder_parameters, {}, 0); }

void expect_mismatch(const std::vector<Tensor> &tensors, const char *sentence, bool allow_extra_tensors = false) {
  Opened opened = open_bytes(encoder_plan(), file_of(tensors), allow_extra_tensors);
  EXPECT_EQ(opened.status, BURIN_WEIGHTS_MISMATCH);
  EXPECT_EQ(opened.message, sentence);
  EXPECT_EQ(opened.model, nullptr);
}

const Tensor embed_w{"embed.W", {4, 32}, {}}, embed_b{"embed.b", {32}, {}}, head_w{"head.W", {32, 3}, {}},
    head_b{"head.b", {3}, {}};

TEST(Matching, all_there) {
  EXPECT_EQ(open_bytes(encoder_plan(), file_of({head_b, embed_w, head_w, embed_b})).status, BURIN_OK);
}

TEST(Matching, every_difference_is_told) {
  expect_mismatch({{"embed.W", {8, 32}, {}}, embed_b, head_w, {"heads.b", {3}, {}}},
                  "tensor 'embed.W' has shape [8, 32], expected [4, 32]; "
                  "tensor 'head.b' is missing (the file has 'heads.b')");
  expect_mismatch({{"embed.W", {4, 32}, {}, "I64"}, embed_b, head_w, head_b},
                  "tensor 'embed.W' is I64, expected F32, F16 or BF16");
  expect_mismatch({{"embed.W", {32}, {}, "U16"}, embed_b, head_w, head_b},
                  "tensor 'embed.W' is U16, expected F32, F16 or BF16; "
                  "tensor 'embed.W' has shape [32], expected [4, 32]");
  expect_mismatch({{"embed.W", {32}, {}, "BF16"}, embed_b, head_w, head_b},
                  "tensor 'embed.W' has shape [32], expected [4, 32]");
  expect_mismatch({embed_w, head_w, head_b}, "tensor 'embed.b' is missing");
  expect_mismatch({embed_w, embed_b, head_w, {"head.b", {}, {}}}, "tensor 'head.b' has shape [], expected [3]");
  expect_mismatch({embed_w, embed_b, head_w, head_b, {"position_ids", {1, 2}, {}, "I64"}},
                  "tensor 'position_ids' is not in the graph");
  expect_mismatch({{"embed.w", {4, 32}, {}}, embed_b, {"zzz", {1}, {}}, head_w, head_b},
                  "tensor 'embed.W' is missing (the file has 'embed.w'); tensor 'zzz' is not in the graph");
}

TEST(Matching, a_square_matrix_of_another_name_is_not_taken) {
  expect_mismatch({{"bert.embed.W", {4, 32}, {}}, {"bert.embed.b", {32}, {}}, head_w, head_b},
                  "tensor 'embed.W' is missing (the file has 'bert.embed.W'); "
                  "tensor 'embed.b' is missing (the file has 'bert.embed.b')");
}

TEST(Matching, differences_past_the_fourth_are_counted) {
  expect_mismatch({}, "tensor 'embed.W' is missing; tensor 'embed.b' is missing; tensor 'head.W' is missing; "
                      "tensor 'head.b' is missing");
  expect_mismatch({{"a very long name, near to none", {}, {}}, {"b very long name, near to none", {}, {}}},
                  "tensor 'embed.W' is missing; tensor 'embed.b' is missing; tensor 'head.W' is missing; "
                  "tensor 'head.b' is missing; and 2 more");
}

TEST(Matching, extra_tensors_can_be_allowed) {
  const std::vector<Tensor> all = {embed_w, embed_b, head_w, head_b, {"position_ids", {1, 2}, {}, "I64"}};
  EXPECT_EQ(open_bytes(encoder_plan(), file_of(all), true).status, BURIN_OK);
  expect_mismatch({embed_w, embed_b, head_w, {"heads.b", {3}, {}}},
                  "tensor 'head.b' is missing (the file has 'heads.b')", true);
}

// --- packing ---

Floats packed_floats(const burin_plan &plan, const Model &model) {
  const auto *first = reinterpret_cast<const float *>(model->weights);
  return {first, first + plan.weights_bytes / 4};
}

Floats packed(const std::vector<burin_plan_parameter> &parameters, const std::vector<burin_plan_segment> &segments,
              int64_t bytes, const std::vector<Tensor> &tensors) {
  burin_plan plan = plan_with(parameters, segments, bytes);
  Opened opened = open_bytes(plan, file_of(tensors));
  EXPECT_EQ(opened.status, BURIN_OK) << opened.message;
  if (!opened.model)
    return {};
  EXPECT_EQ(uintptr_t(opened.model->weights) % 64, 0u);
  return packed_floats(plan, opened.model);
}

// W [K 2, N 3], W(k, n) = 10 k + n, as panels of 2 columns: [N/2][K][2], the fourth column being padding.
const Floats panels_of_two = {0, 1, 10, 11, /**/ 2, 0, 12, 0};

TEST(Packing, panels_of_in_out_matrices) {
  EXPECT_EQ(packed({{"W", 2, 0, {2, 3}}}, {{0, BURIN_PACK_PANELS, 0, 2, 2, 0, 0}}, 32,
                   {{"W", {2, 3}, {0, 1, 2, 10, 11, 12}}}),
            panels_of_two);
}

TEST(Packing, panels_of_out_in_matrices) {
  EXPECT_EQ(packed({{"W", 2, 0, {3, 2}}}, {{0, BURIN_PACK_PANELS, 1, 2, 2, 0, 0}}, 32,
                   {{"W", {3, 2}, {0, 10, 1, 11, 2, 12}}}),
            panels_of_two);
}

// Q [2, 3], K [2, 1] (out_in: [1, 2]) and V [2, 2] side by side: six columns in two panels of 4.
TEST(Packing, merged_columns_cross_panels) {
  const Tensor q{"Q", {2, 3}, {1, 2, 3, 11, 12, 13}}, k{"K", {1, 2}, {4, 14}}, v{"V", {2, 2}, {5, 6, 15, 16}};
  EXPECT_EQ(packed({{"Q", 2, 0, {2, 3}}, {"K", 2, 0, {1, 2}}, {"V", 2, 0, {2, 2}}},
                   {{0, BURIN_PACK_PANELS, 0, 4, 2, 0, 64},
                    {1, BURIN_PACK_PANELS, 1, 4, 2, 3, 64},
                    {2, BURIN_PACK_PANELS, 0, 4, 2, 4, 64}},
                   128, {q, k, v}),
            Floats({0, 0, 0, 0, 0,  0,  0,  0,  0,      0, 0, 0, 0,  0,  0, 0, //
                    1, 2, 3, 4, 11, 12, 13, 14, /**/ 5, 6, 0, 0, 15, 16, 0, 0}));
  const Tensor v_out_in{"V", {2, 2}, {5, 15, 6, 16}}, q_out_in{"Q", {3, 2}, {1, 11, 2, 12, 3, 13}};
  EXPECT_EQ(packed({{"V", 2, 0, {2, 2}}, {"Q", 2, 0, {3, 2}}},
                   {{0, BURIN_PACK_PANELS, 1, 4, 2, 0, 0}, {1, BURIN_PACK_PANELS, 1, 4, 2, 2, 0}}, 64,
                   {v_out_in, q_out_in}),
            Floats({5, 6, 1, 2, 15, 16, 11, 12, /**/ 3, 0, 0, 0, 13, 0, 0, 0}));
}

TEST(Packing, vectors_and_plain_rows) {
  EXPECT_EQ(packed({{"b", 1, 0, {2, 1}}, {"c", 1, 0, {1, 1}}, {"table", 2, 0, {2, 2}}},
                   {{0, BURIN_PACK_VECTOR, 0, 0, 0, 0, 0},
                    {1, BURIN_PACK_VECTOR, 0, 0, 0, 2, 0},
                    {2, BURIN_PACK_ROWS, 0, 0, 0, 0, 16}},
                   36, {{"b", {2}, {1, 2}}, {"c", {1}, {3}}, {"table", {2, 2}, {4, 5, 6, 7}}}),
            Floats({1, 2, 3, 0, 4, 5, 6, 7, 0}));
}

// Sizes around those of the tile that a transposed matrix goes through, on panels wider and narrower than it.
TEST(Packing, transposed_panels_of_every_size) {
  for (int64_t panel : {1, 8, 48, 100})
    for (int64_t inputs : {1, 15, 16, 17, 40})
      for (int64_t outputs : {1, 63, 64, 65, 130}) {
        const int64_t first = 5, panels = (first + outputs + panel - 1) / panel; // beside another's 5 columns
        Floats in_out, out_in(size_t(inputs * outputs)), expected(size_t(panels * panel * inputs));
        for (int64_t k = 0; k < inputs; ++k)
          for (int64_t n = 0; n < outputs; ++n) {
            in_out.push_back(float(1 + k * outputs + n));
            out_in[size_t(n * inputs + k)] = in_out.back();
            const int64_t column = first + n;
            expected[size_t((column / panel * inputs + k) * panel + column % panel)] = in_out.back();
          }
        const int64_t bytes = int64_t(expected.size()) * 4;
        const int32_t width = int32_t(panel);
        EXPECT_EQ(packed({{"W", 2, 0, {inputs, outputs}}}, {{0, BURIN_PACK_PANELS, 0, width, inputs, first, 0}}, bytes,
                         {{"W", {inputs, outputs}, in_out}}),
                  expected);
        EXPECT_EQ(packed({{"W", 2, 0, {outputs, inputs}}}, {{0, BURIN_PACK_PANELS, 1, width, inputs, first, 0}}, bytes,
                         {{"W", {outputs, inputs}, out_in}}),
                  expected);
      }
}

// The same weights in each of the types, through each of the layouts.
TEST(Packing, half_precision_files) {
  // 1, 1.5, -2 and 0.10009766, as the upper halves of float32 and as float16.
  const std::string bf16("\x80\x3F\xC0\x3F\x00\xC0\xCD\x3D", 8), f16("\x00\x3C\x00\x3E\x00\xC0\x68\x2E", 8);
  const std::vector<burin_plan_parameter> parameters = {{"W", 2, 0, {2, 2}}};
  const float a = 1, b = 1.5f, c = -2, d = 0.10009765625f;
  for (const std::string &type : {"BF16", "F16"}) {
    const std::string file = file_with(R"({"W":{"dtype":")" + type + R"(","shape":[2,2],"data_offsets":[0,8]}})",
                                       type == "F16" ? f16 : bf16);
    auto packed_by = [&](const burin_plan_segment &segment) {
      const std::vector<burin_plan_segment> segments = {segment};
      burin_plan plan = plan_with(parameters, segments, 32);
      Opened opened = open_bytes(plan, file);
      EXPECT_EQ(opened.status, BURIN_OK) << opened.message;
      return packed_floats(plan, opened.model);
    };
    EXPECT_EQ(packed_by({0, BURIN_PACK_ROWS, 0, 0, 0, 0, 0}), Floats({a, b, c, d, 0, 0, 0, 0}));
    EXPECT_EQ(packed_by({0, BURIN_PACK_PANELS, 0, 4, 2, 0, 0}), Floats({a, b, 0, 0, c, d, 0, 0}));
    EXPECT_EQ(packed_by({0, BURIN_PACK_PANELS, 1, 4, 2, 0, 0}), Floats({a, c, 0, 0, b, d, 0, 0}));
  }
}

TEST(Packing, into_memory_of_the_caller) {
  const std::vector<burin_plan_parameter> parameters = {{"b", 1, 0, {2, 1}}};
  const std::vector<burin_plan_segment> segments = {{0, BURIN_PACK_VECTOR, 0, 0, 0, 0, 0}};
  burin_plan plan = plan_with(parameters, segments, 16);
  std::string file = file_of({{"b", {2}, {1, 2}}});
  AlignedMemory memory(BURIN_MODEL_BYTES + 16);
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  options.memory = memory.data();
  options.memory_bytes = memory.size();
  Opened opened = open_with(plan, options);
  ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
  EXPECT_EQ(opened.model->weights, memory.data() + BURIN_MODEL_BYTES);
  EXPECT_EQ(packed_floats(plan, opened.model), Floats({1, 2, 0, 0})); /* padding is zero, whatever the memory held */
}

TEST(Packing, data_at_odd_addresses) {
  std::string file = file_of({{"b", {2}, {1, 2}}});
  const std::vector<burin_plan_parameter> parameters = {{"b", 1, 0, {2, 1}}};
  const std::vector<burin_plan_segment> segments = {{0, BURIN_PACK_VECTOR, 0, 0, 0, 0, 0}};
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string moved = std::string(shift, ' ') + file;
    burin_open_options options = {};
    options.weights = moved.data() + shift;
    options.weights_bytes = file.size();
    burin_plan plan = plan_with(parameters, segments, 8);
    burin_model *model = nullptr;
    ASSERT_EQ(burin_rt_open(&plan, &options, &model), BURIN_OK);
    EXPECT_EQ(packed_floats(plan, Model(model)), Floats({1, 2}));
  }
}

// --- files, options, processor ---

std::string open_path(const std::string &path, burin_status expected) {
  char message[256] = "";
  burin_open_options options = {};
  options.weights_path = path.c_str();
  options.message = message;
  options.message_bytes = sizeof message;
  burin_model *model = nullptr;
  burin_plan plan = encoder_plan();
  EXPECT_EQ(burin_rt_open(&plan, &options, &model), expected);
  EXPECT_EQ(model != nullptr, expected == BURIN_OK);
  burin_rt_close(model);
  return message;
}

TEST(Opening, files_on_disk) {
  std::string folder = testing::TempDir(), path = folder + "burin_open_test_" + std::to_string(getpid());
  EXPECT_EQ(open_path(path, BURIN_FILE_UNREADABLE), "cannot open '" + path + "': No such file or directory");
  std::ofstream(path, std::ios::binary) << file_of({embed_w, embed_b, head_w, head_b});
  EXPECT_EQ(open_path(path, BURIN_OK), "");
  std::ofstream(path, std::ios::binary | std::ios::trunc).flush();
  EXPECT_EQ(open_path(path, BURIN_FILE_MALFORMED), "the file has 0 bytes, too few for the length of a header");
  std::remove(path.c_str());
  EXPECT_EQ(open_path("/", BURIN_FILE_UNREADABLE), "cannot read '/': it is not a regular file");
}

TEST(Opening, options_that_are_missing) {
  burin_plan plan = encoder_plan();
  burin_open_options options = {};
  burin_model *model = nullptr;
  EXPECT_EQ(burin_rt_open(&plan, nullptr, &model), BURIN_NULL_POINTER);
  EXPECT_EQ(burin_rt_open(&plan, &options, nullptr), BURIN_NULL_POINTER);
  EXPECT_EQ(burin_rt_open(&plan, &options, &model), BURIN_NULL_POINTER);
  EXPECT_EQ(open_with(plan, options).message, "neither a path nor the bytes of a weights file are given");
  burin_rt_close(nullptr);
  EXPECT_NE(open_without_weights(mask_plan), nullptr); // a graph without parameters needs no file
}

TEST(Opening, messages_are_cut_to_fit) {
  std::string file = file_of({});
  burin_plan plan = encoder_plan();
  for (size_t room : {size_t(1), size_t(10), size_t(16)}) {
    std::string message(room + 1, '#');
    burin_open_options options = {};
    options.weights = file.data();
    options.weights_bytes = file.size();
    options.message = message.data();
    options.message_bytes = room;
    burin_model *model = nullptr;
    EXPECT_EQ(burin_rt_open(&plan, &options, &model), BURIN_WEIGHTS_MISMATCH);
    EXPECT_EQ(std::string(message.c_str()), std::string("tensor 'embed.W' is missing").substr(0, room - 1));
    EXPECT_EQ(message[room], '#');
  }
}

TEST(Opening, tables_of_another_version) {
  burin_plan plan = encoder_plan();
  plan.version = 999;
  Opened opened = open_bytes(plan, file_of({}));
  EXPECT_EQ(opened.status, BURIN_KERNEL_FAILED);
  EXPECT_EQ(opened.message,
            "the object has tables of version 999, this runtime reads version " + std::to_string(BURIN_PLAN_VERSION));
}

TEST(Opening, memory_that_no_machine_has) {
  burin_plan plan = encoder_plan();
  plan.weights_bytes = INT64_MAX / 2;
  Opened opened = open_bytes(plan, file_of({embed_w, embed_b, head_w, head_b}));
  EXPECT_EQ(opened.status, BURIN_OUT_OF_MEMORY);
  EXPECT_EQ(opened.message, "4611686018427387903 bytes for the packed weights could not be allocated");
}

#if defined(__x86_64__)
TEST(Opening, the_processor_is_asked) {
  const std::vector<Tensor> all = {embed_w, embed_b, head_w, head_b};
  burin_plan plan = encoder_plan();
  plan.cpu_bit_count = 1;
  const burin_plan_cpu_bit sse2 = {1, 0, 3, 1u << 26}, saved_sse = {0, 0, 4, 2}, saved_bit_31 = {0, 0, 4, 1u << 31},
                           no_leaf = {0x7FFFFFFF, 0, 0, 1}, reserved = {7, 0, 0, 0xFFFFFFFF};
  for (const burin_plan_cpu_bit *bit : {&sse2, &saved_sse}) {
    plan.cpu_bits = bit;
    EXPECT_EQ(open_bytes(plan, file_of(all)).status, BURIN_OK);
  }
  for (const burin_plan_cpu_bit *bit : {&saved_bit_31, &no_leaf, &reserved}) {
    plan.cpu_bits = bit;
    Opened opened = open_bytes(plan, file_of(all));
    EXPECT_EQ(opened.status, BURIN_CPU_UNSUPPORTED);
    EXPECT_EQ(opened.message, "this processor, or its operating system, lacks what target 'x86-64-avx512' needs");
  }
}
#endif

} // namespace
