// A small plan with its weights as a safetensors file and as a packed one, and what tests of packed files ask of them.
#pragma once

#include "runtime_test.h"
extern "C" {
#include "hash.h"
#include "packed_file.h"
}

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace burin_test {

// A matrix in panels and a vector: 80 bytes of weights.
inline const burin_plan_parameter two_parameters[] = {{"W", 2, 0, {3, 2}}, {"b", 1, 0, {3, 1}}};
inline const burin_plan_segment two_segments[] = {{0, BURIN_PACK_PANELS, 1, 2, 2, 0, 0},
                                                  {1, BURIN_PACK_VECTOR, 0, 0, 0, 0, 64}};
inline const burin_plan_entry nothing_called = {};

inline burin_plan two_tensors_plan() {
  burin_plan plan = {};
  plan.version = BURIN_PLAN_VERSION;
  plan.name = "two_tensors";
  plan.target = "x86-64-avx2";
  plan.forward = &nothing_called;
  plan.parameters = two_parameters;
  plan.parameter_count = 2;
  plan.segments = two_segments;
  plan.segment_count = 2;
  plan.weights_bytes = 80;
  return plan;
}

inline std::string two_tensors() {
  return file_with(R"({"W":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},)"
                   R"("b":{"dtype":"F32","shape":[3],"data_offsets":[24,36]}})",
                   float_bytes({0, 10, 1, 11, 2, 12, 7, 8, 9}));
}

// A file of this test alone, removed at its end.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &bytes = "") {
    static int count = 0;
    path_ = testing::TempDir() + "burin_packed_" + std::to_string(getpid()) + "_" + std::to_string(count++);
    if (!bytes.empty())
      write(bytes);
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const std::string &path() const { return path_; }
  const char *name() const { return path_.c_str(); }
  void write(const std::string &bytes) const { std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes; }
  std::string read() const {
    std::stringstream bytes;
    bytes << std::ifstream(path_, std::ios::binary).rdbuf();
    return bytes.str();
  }

private:
  std::string path_;
};

inline burin_status pack_to(const burin_plan &plan, const std::string &weights, const std::string &path,
                            std::string *sentence = nullptr, const burin_rt_progress *progress = nullptr) {
  char message[512] = "";
  burin_open_options options = {};
  options.weights = weights.data();
  options.weights_bytes = weights.size();
  options.message = message;
  options.message_bytes = sizeof message;
  burin_status status = burin_rt_pack(&plan, &options, path.c_str(), progress);
  if (sentence)
    *sentence = message;
  return status;
}

// The packed file of two_tensors_plan.
inline std::string good_file() {
  TemporaryFile file;
  std::string sentence;
  EXPECT_EQ(pack_to(two_tensors_plan(), two_tensors(), file.path(), &sentence), BURIN_OK) << sentence;
  return file.read();
}

inline Opened open_path(const burin_plan &plan, const std::string &path, burin_open_options options = {}) {
  options.weights_path = path.c_str();
  return open_with(plan, options);
}

inline std::vector<float> weights_of(const burin_plan &plan, const Opened &opened) {
  const auto *first = reinterpret_cast<const float *>(opened.model->weights);
  return {first, first + plan.weights_bytes / 4};
}

inline const std::vector<float> packed_weights = {0, 1, 10, 11, 2, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9, 0};

inline std::string hash_text(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

inline burin_packed_header header_of(const std::string &file) {
  burin_packed_header header;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

inline uint64_t checksum_of(burin_packed_header header) {
  header.checksum = 0;
  return burin_hash(&header, sizeof header, 0);
}

// The file with another header, whose checksum is right.
template <typename Change> std::string with_header(const std::string &file, Change change) {
  burin_packed_header header = header_of(file);
  change(header);
  header.checksum = checksum_of(header);
  return std::string(reinterpret_cast<const char *>(&header), sizeof header) + file.substr(sizeof header);
}

} // namespace burin_test
