// Opening into memory of the caller, with either runtime: where things lie, and what is refused.
#include "packed_weights.h"

using namespace burin_test;

namespace {

// The packed file of two_tensors_plan, made without writing one.
std::string packed_file() {
  burin_packed_header header;
  burin_plan plan = two_tensors_plan();
  std::string weights = float_bytes(packed_weights);
  burin_packed_make_header(&header, &plan, burin_hash(weights.data(), weights.size(), 0));
  return std::string(reinterpret_cast<const char *>(&header), sizeof header) + weights;
}

// Its bytes at a 64-byte boundary, and room for a model with its weights, and one byte.
struct Places {
  std::string file = packed_file();
  AlignedMemory weights{file.size()}, memory{BURIN_MODEL_BYTES + 80 + 1};
  Places() { std::memcpy(weights.data(), file.data(), file.size()); }
  burin_open_options options(bool stays) const {
    burin_open_options options = {};
    options.weights = weights.data();
    options.weights_bytes = weights.size();
    options.weights_stay = stays;
    options.memory = memory.data();
    options.memory_bytes = BURIN_MODEL_BYTES + (stays ? 0 : 80);
    return options;
  }
};

void expect_refused(const burin_open_options &options, burin_status status, const char *sentence) {
  Opened opened = open_with(two_tensors_plan(), options);
  EXPECT_EQ(opened.status, status);
  EXPECT_EQ(opened.message, sentence);
  EXPECT_EQ(opened.model, nullptr);
}

TEST(ModelMemory, weights_stay_where_they_are) {
  Places places;
  Opened opened = open_with(two_tensors_plan(), places.options(true));
  ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
  EXPECT_EQ(static_cast<void *>(opened.model.get()), places.memory.data());
  EXPECT_EQ(opened.model->weights, places.weights.data() + sizeof(burin_packed_header));
  EXPECT_EQ(weights_of(two_tensors_plan(), opened), packed_weights);
  for (size_t i = BURIN_MODEL_BYTES; i < places.memory.size(); ++i)
    EXPECT_EQ(places.memory.data()[i], 0xA5) << "byte " << i << " is past the memory";
}

TEST(ModelMemory, weights_are_copied_behind_the_model) {
  Places places;
  Opened opened = open_with(two_tensors_plan(), places.options(false));
  ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
  EXPECT_EQ(static_cast<void *>(opened.model.get()), places.memory.data());
  EXPECT_EQ(opened.model->weights, places.memory.data() + BURIN_MODEL_BYTES);
  std::memset(places.weights.data(), 0, places.weights.size());
  EXPECT_EQ(weights_of(two_tensors_plan(), opened), packed_weights);
  EXPECT_EQ(places.memory.data()[BURIN_MODEL_BYTES + 80], 0xA5) << "the byte past the memory";
}

TEST(ModelMemory, what_is_refused) {
  Places places;
  burin_open_options options = places.options(true);
  options.memory_bytes = BURIN_MODEL_BYTES - 1;
  expect_refused(options, BURIN_OUT_OF_MEMORY, "the memory for the model has 127 bytes, expected 128");
  options.memory_bytes = 0;
  expect_refused(options, BURIN_OUT_OF_MEMORY, "the memory for the model has 0 bytes, expected 128");
  options = places.options(false);
  --options.memory_bytes;
  expect_refused(options, BURIN_OUT_OF_MEMORY,
                 "the memory for the model has 207 bytes, expected 208, with its weights");
  options = places.options(true);
  options.memory = places.memory.data() + 32;
  expect_refused(options, BURIN_MISALIGNED, "the memory for the model is not 64-byte aligned");
  options = places.options(false);
  options.memory = places.weights.data();
  options.memory_bytes = places.weights.size();
  expect_refused(options, BURIN_OVERLAP, "the memory for the model overlaps the bytes of the weights");
  EXPECT_EQ(std::string(reinterpret_cast<char *>(places.weights.data()), places.weights.size()), places.file)
      << "the weights were written to";
  EXPECT_EQ(places.memory.copy(), std::vector<unsigned char>(places.memory.size(), 0xA5))
      << "the memory was written to";
}

TEST(ModelMemory, packed_weights_that_are_cut_off) {
  Places places;
  burin_open_options options = places.options(true);
  options.weights_bytes -= 4;
  expect_refused(options, BURIN_FILE_MALFORMED, "the packed file has 76 bytes of weights, but its header says 80");
  options = places.options(true);
  options.weights = places.weights.data() + 4;
  std::memmove(places.weights.data() + 4, places.file.data(), places.file.size() - 4);
  options.weights_bytes = places.file.size() - 4;
  EXPECT_EQ(open_with(two_tensors_plan(), options).status, BURIN_FILE_MALFORMED);
}

} // namespace
