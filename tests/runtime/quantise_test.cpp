// Weights in fewer bits: what lies where in the packed weights, of numbers worked out by hand.
#include "packed_weights.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

using namespace burin_test;

namespace {

enum { K = 5, N = 3, panel = 4, terms = 4, group = 4, columns = 4, depth = 8 };

/// One matrix of K × N. Int8: 32 bytes of integers at 0, scales at 64, sums at 128, corrections at 192.
struct OneMatrix {
  burin_plan_parameter parameter = {"W", 2, 0, {K, N}};
  burin_plan_segment segment = {};
  burin_plan plan = two_tensors_plan();

  explicit OneMatrix(int32_t layout, bool transposed = false) {
    if (transposed)
      std::swap(parameter.shape[0], parameter.shape[1]);
    segment.layout = layout;
    segment.transposed = transposed;
    segment.panel = panel;
    segment.rows = K;
    segment.terms = terms;
    segment.group = group;
    segment.columns = columns;
    segment.scales = 64;
    segment.sums = 128;
    segment.corrections = 192;
    plan.parameters = &parameter;
    plan.parameter_count = 1;
    plan.segments = &segment;
    plan.segment_count = 1;
    plan.weights_bytes = 256;
  }

  std::string file(const std::array<float, K * N> &values) const {
    std::array<float, K *N> stored = values;
    if (segment.transposed)
      for (int k = 0; k < K; ++k)
        for (int n = 0; n < N; ++n)
          stored[n * K + k] = values[k * N + n];
    std::string shape = segment.transposed ? "[3,5]" : "[5,3]";
    return file_with(R"({"W":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,60]}})",
                     std::string(reinterpret_cast<const char *>(stored.data()), sizeof stored));
  }

  std::string packed(const std::array<float, K * N> &values) const {
    TemporaryFile to("");
    std::string sentence;
    EXPECT_EQ(pack_to(plan, file(values), to.path(), &sentence), BURIN_OK) << sentence;
    return to.read().substr(4096);
  }
};

template <typename T> T at(const std::string &bytes, size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

constexpr std::array<float, K *N> weights = {
    127.0f,  0.0f, 0.5f,  //
    -127.0f, 0.0f, 1.0f,  //
    1.0f,    0.0f, 1.5f,  //
    0.0f,    0.0f, -2.0f, // the last of the first group
    0.25f,   0.0f, -3.0f,
};

TEST(Quantise, int8_has_a_scale_for_each_group_of_a_column) {
  for (bool transposed : {false, true}) {
    std::string packed = OneMatrix(BURIN_PACK_PANELS_INT8, transposed).packed(weights);
    // Of column 2, whose largest magnitude is 2: 31.75, 63.5, 95.25 and −127, ties to even.
    const std::array<std::array<int, 3>, depth> integers = {
        {{127, 0, 32}, {-127, 0, 64}, {1, 0, 95}, {0, 0, -127}, {127, 0, -127}, {}, {}, {}}};
    for (int k = 0; k < depth; ++k)
      for (int n = 0; n < N; ++n)
        EXPECT_EQ(at<int8_t>(packed, (k / terms * panel + n) * terms + k % terms), integers[k][n])
            << "row " << k << " of column " << n << (transposed ? ", transposed" : "");
    const float scales[2][N] = {{1, 0, 2 / 127.0f}, {0.25f / 127, 0, 3 / 127.0f}};
    const int sums[2][N] = {{1, 0, 64}, {127, 0, -127}};
    for (int n = 0; n < N; ++n) {
      double sum = 0;
      for (int g = 0; g < 2; ++g) {
        EXPECT_FLOAT_EQ(at<float>(packed, 64 + (g * columns + n) * 4), scales[g][n]);
        EXPECT_EQ(at<int32_t>(packed, 192 + (g * columns + n) * 4), -128 * sums[g][n]);
        sum += double(scales[g][n]) * sums[g][n];
      }
      EXPECT_FLOAT_EQ(at<float>(packed, 128 + n * 4), float(sum));
    }
    for (int place = 0; place < depth / terms; ++place) // the padding of the panel
      EXPECT_EQ(at<int32_t>(packed, (place * panel + N) * terms), 0);
  }
}

TEST(Quantise, int8_refuses_what_is_not_finite) {
  OneMatrix matrix(BURIN_PACK_PANELS_INT8);
  for (float value : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), NAN}) {
    std::array<float, K *N> values = weights;
    values[7] = value;
    TemporaryFile to("what stood here");
    std::string sentence;
    EXPECT_EQ(pack_to(matrix.plan, matrix.file(values), to.path(), &sentence), BURIN_WEIGHTS_MISMATCH);
    EXPECT_EQ(sentence, "tensor 'W' holds a value that is not finite, which int8 cannot hold");
    EXPECT_EQ(to.read(), "what stood here");
  }
}

TEST(Quantise, int8_takes_the_smallest_weights_as_zeros) {
  std::array<float, K *N> values = {};
  values[0] = 0x1p-101f;
  values[1] = 0x1p-100f;
  std::string packed = OneMatrix(BURIN_PACK_PANELS_INT8).packed(values);
  EXPECT_EQ(at<int8_t>(packed, 0), 0);
  EXPECT_EQ(at<float>(packed, 64), 0.0f);
  EXPECT_EQ(at<int8_t>(packed, terms), 127);
}

TEST(Quantise, bf16_rounds_to_nearest_and_ties_to_even) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::array<float, K *N> values = {1 + 0x1p-8f,   1 + 0x3p-8f,
                                    1 + 0x1.8p-8f, // half way to the next, half way after it, and beyond half way
                                    -1 - 0x1p-8f,  std::numeric_limits<float>::max(),
                                    infinity,      -infinity,
                                    NAN,           0x1p-133f,
                                    -0.0f};
  OneMatrix alone(BURIN_PACK_PANELS_BF16), pairs(BURIN_PACK_PANELS_BF16);
  alone.segment.terms = 1;
  pairs.segment.terms = 2;
  std::string packed = alone.packed(values), inPairs = pairs.packed(values);
  const std::array<float, 10> expected = {1,        1 + 0x1p-6f, 1 + 0x1p-7f, -1,        infinity,
                                          infinity, -infinity,   NAN,         0x1p-133f, -0.0f};
  for (int i = 0; i < int(expected.size()); ++i) {
    int k = i / N, n = i % N;
    uint32_t bits = uint32_t(at<uint16_t>(packed, (k * panel + n) * 2)) << 16;
    EXPECT_EQ(at<uint16_t>(inPairs, ((k / 2 * panel + n) * 2 + k % 2) * 2), bits >> 16) << "number " << i;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(value)) << "number " << i;
    else
      EXPECT_EQ(value, expected[i]) << "number " << i;
    EXPECT_EQ(std::signbit(value), std::signbit(values[i])) << "number " << i;
  }
}

} // namespace
