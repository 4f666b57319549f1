// `forward` and `forward_batch` over hand-made plans: rows, positions and masks of each sequence reach the right
// kernels, and whatever is wrong with a call is a status that leaves every output as it was.
#include "hand_made_plans.h"

#include <gtest/gtest.h>

using namespace burin_test;

namespace {

using Floats = std::vector<float>;

struct RowsRun {
  burin_status status;
  Floats mean, placed;
};

RowsRun run_rows(const burin_model *model, const std::vector<int64_t> &offsets, const Floats &x) {
  int64_t sequences = int64_t(offsets.size()) - 1;
  RowsRun run{BURIN_OK, Floats(size_t(sequences) * 2, -1.0f), Floats(x.size(), -1.0f)};
  AlignedMemory scratch(burin_rt_scratch_bytes(&rows_plan, &offsets.back(), sequences));
  const int64_t *offset_arrays[] = {offsets.data()};
  const void *inputs[] = {x.data()};
  void *outputs[] = {run.mean.data(), run.placed.data()};
  run.status = burin_rt_forward_batch(&rows_plan, model, scratch.data(), scratch.size(), sequences, offset_arrays,
                                      inputs, outputs);
  return run;
}

TEST(Forward, one_sequence) {
  Model model = open_rows_model();
  Floats x = {1, 2, 3, 4, 5, 6}, mean(2), placed(6);
  int64_t rows[] = {3};
  AlignedMemory scratch(burin_rt_scratch_bytes(&rows_plan, rows, 1));
  const void *inputs[] = {x.data()};
  void *outputs[] = {mean.data(), placed.data()};
  ASSERT_EQ(burin_rt_forward(&rows_plan, model.get(), scratch.data(), scratch.size(), rows, inputs, outputs), BURIN_OK);
  EXPECT_EQ(mean, Floats({9, 12}));
  EXPECT_EQ(placed, Floats({3, 6, 10, 13, 17, 20}));
}

TEST(Forward, a_batch_with_empty_sequences) {
  RowsRun run = run_rows(open_rows_model().get(), {0, 0, 2, 2, 3, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_EQ(run.status, BURIN_OK);
  EXPECT_EQ(run.mean, Floats({0, 0, 6, 9, 0, 0, 15, 18, 0, 0}));
  EXPECT_EQ(run.placed, Floats({3, 6, 10, 13, 15, 18})); // positions start again with each sequence
}

TEST(Forward, no_rows_at_all) {
  Model model = open_rows_model();
  Floats mean = {-1, -1};
  int64_t rows[] = {0};
  AlignedMemory scratch(burin_rt_scratch_bytes(&rows_plan, rows, 1));
  const void *inputs[] = {nullptr};
  void *outputs[] = {mean.data(), nullptr};
  seen = {};
  ASSERT_EQ(burin_rt_forward(&rows_plan, model.get(), scratch.data(), scratch.size(), rows, inputs, outputs), BURIN_OK);
  EXPECT_EQ(mean, Floats({0, 0}));
  EXPECT_EQ(seen.calls, 2); // the pool and what follows it; the others have no rows

  RowsRun none = run_rows(model.get(), {0}, {});
  EXPECT_EQ(none.status, BURIN_OK);
}

TEST(Forward, sizes_are_the_sum_of_the_parts) {
  size_t arena = (BURIN_ARENA_BLOCK_BYTES(8) + 63) / 64 * 64;
  int64_t rows[] = {9};
  EXPECT_EQ(burin_rt_scratch_bytes(&rows_plan, rows, 2), arena + 128 + 9 * 128 + 2 * 64);
  rows[0] = 0;
  EXPECT_EQ(burin_rt_scratch_bytes(&rows_plan, rows, 1), arena + 64);
  // A batch runs in parts of 256 rows, so its scratch does not grow beyond those, whatever the caller asks for.
  rows[0] = INT64_MAX;
  EXPECT_EQ(burin_rt_scratch_bytes(&rows_plan, rows, 2), arena + (256 * 8 + 63) / 64 * 64 + 256 * 128 + 2 * 64);
  rows[0] = 1;
  EXPECT_EQ(burin_rt_scratch_bytes(&step_plan, rows, 1), 64u);
}

TEST(Forward, masks_of_sequences_lie_one_after_another) {
  Model model = open_without_weights(mask_plan);
  //                 sequence 0        1 (no keys)  2 (no queries)  3
  const int64_t q_offsets[] = {0, 2, 3, 3, 4}, k_offsets[] = {0, 3, 3, 5, 6};
  Floats q = {100, 200, 300, 400}, k = {1, 2, 3, 4, 5, 6}, y(4, -1.0f);
  alignas(4) const uint8_t mask[] = {1, 0, 1, /**/ 0, 1, 0, /**/ 1};
  const int64_t *offsets[] = {q_offsets, k_offsets};
  const void *inputs[] = {q.data(), k.data(), mask};
  void *outputs[] = {y.data()};
  seen = {};
  ASSERT_EQ(burin_rt_forward_batch(&mask_plan, model.get(), nullptr, 0, 4, offsets, inputs, outputs), BURIN_OK);
  EXPECT_EQ(y, Floats({104, 202, 300, 406}));
}

// 300 sequences, more rows than a part has: each gives what it gives alone, and its masks, positions and results are
// its own.
TEST(Forward, a_batch_of_several_parts) {
  Model model = open_rows_model();
  std::vector<int64_t> offsets = {0};
  for (int64_t s = 0; s < 300; ++s)
    offsets.push_back(offsets.back() + s * 7 % 6);
  Floats x(size_t(offsets.back()) * 2);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 97);
  ASSERT_GT(offsets.back(), 2 * 256);
  RowsRun run = run_rows(model.get(), offsets, x);
  ASSERT_EQ(run.status, BURIN_OK);
  for (size_t s = 0; s < 300; ++s) {
    auto first = x.begin() + offsets[s] * 2, last = x.begin() + offsets[s + 1] * 2;
    RowsRun alone = run_rows(model.get(), {0, offsets[s + 1] - offsets[s]}, Floats(first, last));
    EXPECT_EQ(Floats(run.mean.begin() + s * 2, run.mean.begin() + s * 2 + 2), alone.mean) << "sequence " << s;
    EXPECT_EQ(Floats(run.placed.begin() + offsets[s] * 2, run.placed.begin() + offsets[s + 1] * 2), alone.placed)
        << "sequence " << s;
  }

  Model mask_model = open_without_weights(mask_plan);
  std::vector<int64_t> q_offsets = {0}, k_offsets = {0};
  std::vector<uint8_t> mask;
  for (int64_t s = 0; s < 300; ++s) {
    q_offsets.push_back(q_offsets.back() + s % 4);
    k_offsets.push_back(k_offsets.back() + s % 5);
    for (int64_t i = 0; i < (s % 4) * (s % 5); ++i)
      mask.push_back(uint8_t((i + s) % 3 == 0));
  }
  Floats q(size_t(q_offsets.back())), k(size_t(k_offsets.back())), y(q.size(), -1.0f), expected = q;
  for (size_t i = 0; i < q.size(); ++i)
    expected[i] = q[i] = float(i);
  for (size_t i = 0; i < k.size(); ++i)
    k[i] = float(i % 31);
  for (size_t s = 0, pair = 0; s < 300; ++s)
    for (int64_t row = q_offsets[s]; row < q_offsets[s + 1]; ++row)
      for (int64_t key = k_offsets[s]; key < k_offsets[s + 1]; ++key)
        expected[size_t(row)] += mask[pair++] ? k[size_t(key)] : 0;
  const int64_t *both[] = {q_offsets.data(), k_offsets.data()};
  const void *inputs[] = {q.data(), k.data(), mask.data()};
  void *outputs[] = {y.data()};
  ASSERT_EQ(burin_rt_forward_batch(&mask_plan, mask_model.get(), nullptr, 0, 300, both, inputs, outputs), BURIN_OK);
  EXPECT_EQ(y, expected);
}

class ForwardChecks : public testing::Test {
protected:
  Model model = open_rows_model();
  int64_t rows[1] = {2};
  AlignedMemory scratch{burin_rt_scratch_bytes(&rows_plan, rows, 1) + 64};
  AlignedMemory tensors{256};
  void *x = tensors.data(), *mean = tensors.data() + 64, *placed = tensors.data() + 128;
  size_t scratch_bytes = scratch.size() - 64;

  // Runs, and sees to it that nothing is touched.
  burin_status refused(void *scratch_memory) {
    std::vector<unsigned char> before = tensors.copy(), scratch_before = scratch.copy();
    const void *inputs[] = {x};
    void *outputs[] = {mean, placed};
    seen = {};
    burin_status status =
        burin_rt_forward(&rows_plan, model.get(), scratch_memory, scratch_bytes, rows, inputs, outputs);
    EXPECT_EQ(seen.calls, 0);
    EXPECT_EQ(tensors.copy(), before);
    EXPECT_EQ(scratch.copy(), scratch_before);
    return status;
  }
  burin_status refused() { return refused(scratch.data()); }
};

TEST_F(ForwardChecks, null_pointers) {
  EXPECT_EQ(refused(nullptr), BURIN_NULL_POINTER);
  x = nullptr;
  EXPECT_EQ(refused(), BURIN_NULL_POINTER);
  x = tensors.data();
  placed = nullptr;
  EXPECT_EQ(refused(), BURIN_NULL_POINTER);
  placed = tensors.data() + 128;
  model.reset();
  EXPECT_EQ(refused(), BURIN_NULL_POINTER);

  Model rows_model = open_rows_model();
  const void *inputs[] = {x};
  void *outputs[] = {mean, placed};
  const int64_t *offsets[] = {nullptr};
  EXPECT_EQ(burin_rt_forward(&rows_plan, rows_model.get(), scratch.data(), scratch_bytes, nullptr, inputs, outputs),
            BURIN_NULL_POINTER);
  EXPECT_EQ(burin_rt_forward(&rows_plan, rows_model.get(), scratch.data(), scratch_bytes, rows, nullptr, outputs),
            BURIN_NULL_POINTER);
  EXPECT_EQ(burin_rt_forward(&rows_plan, rows_model.get(), scratch.data(), scratch_bytes, rows, inputs, nullptr),
            BURIN_NULL_POINTER);
  EXPECT_EQ(
      burin_rt_forward_batch(&rows_plan, rows_model.get(), scratch.data(), scratch_bytes, 1, nullptr, inputs, outputs),
      BURIN_NULL_POINTER);
  EXPECT_EQ(
      burin_rt_forward_batch(&rows_plan, rows_model.get(), scratch.data(), scratch_bytes, 1, offsets, inputs, outputs),
      BURIN_NULL_POINTER);
}

TEST_F(ForwardChecks, misaligned_pointers) {
  EXPECT_EQ(refused(scratch.data() + 32), BURIN_MISALIGNED);
  x = tensors.data() + 2;
  EXPECT_EQ(refused(), BURIN_MISALIGNED);
  x = tensors.data();
  mean = tensors.data() + 65;
  EXPECT_EQ(refused(), BURIN_MISALIGNED);
}

TEST_F(ForwardChecks, overlapping_buffers) {
  mean = x;
  EXPECT_EQ(refused(), BURIN_OVERLAP);
  mean = tensors.data() + 12; // the last of 16 bytes of x
  EXPECT_EQ(refused(), BURIN_OVERLAP);
  mean = tensors.data() + 132;
  EXPECT_EQ(refused(), BURIN_OVERLAP);
  mean = tensors.data() + 64;
  x = scratch.data() + scratch_bytes - 4;
  EXPECT_EQ(refused(), BURIN_OVERLAP);
  x = tensors.data();
  placed = scratch.data();
  EXPECT_EQ(refused(), BURIN_OVERLAP);
}

TEST_F(ForwardChecks, neighbours_do_not_overlap) {
  mean = tensors.data() + 16;
  placed = tensors.data() + 24;
  std::memset(tensors.data(), 0, 16);
  const void *inputs[] = {x};
  void *outputs[] = {mean, placed};
  EXPECT_EQ(burin_rt_forward(&rows_plan, model.get(), scratch.data(), scratch_bytes, rows, inputs, outputs), BURIN_OK);
}

TEST_F(ForwardChecks, lengths) {
  rows[0] = 6; // the maximum is 5
  EXPECT_EQ(refused(), BURIN_TIME_OUT_OF_RANGE);
  rows[0] = -1;
  EXPECT_EQ(refused(), BURIN_TIME_OUT_OF_RANGE);
  rows[0] = INT64_MIN;
  EXPECT_EQ(refused(), BURIN_TIME_OUT_OF_RANGE);
  EXPECT_EQ(run_rows(model.get(), {0, 5}, Floats(10)).status, BURIN_OK);
  EXPECT_EQ(run_rows(model.get(), {0, 6}, Floats(12)).status, BURIN_TIME_OUT_OF_RANGE);
  EXPECT_EQ(run_rows(model.get(), {0, 5, 9}, Floats(18)).status, BURIN_OK);
}

TEST_F(ForwardChecks, offsets) {
  EXPECT_EQ(run_rows(model.get(), {1, 2}, Floats(4)).status, BURIN_BAD_OFFSETS);
  EXPECT_EQ(run_rows(model.get(), {0, 3, 2, 4}, Floats(8)).status, BURIN_BAD_OFFSETS);
  EXPECT_EQ(run_rows(model.get(), {-1, 2}, Floats(4)).status, BURIN_BAD_OFFSETS);
  const int64_t zero[] = {0};
  const int64_t *offsets[] = {zero};
  const void *inputs[] = {x};
  void *outputs[] = {mean, placed};
  EXPECT_EQ(
      burin_rt_forward_batch(&rows_plan, model.get(), scratch.data(), scratch_bytes, -1, offsets, inputs, outputs),
      BURIN_TIME_OUT_OF_RANGE);
}

TEST_F(ForwardChecks, scratch_too_small) {
  scratch_bytes -= 1;
  EXPECT_EQ(refused(), BURIN_SCRATCH_TOO_SMALL);
}

TEST_F(ForwardChecks, a_model_of_another_graph) {
  model = open_without_weights(mask_plan);
  EXPECT_EQ(refused(), BURIN_WEIGHTS_MISMATCH);
}

// Kernels index with 32 bits: a call that would need more is refused, and only such a call.
TEST_F(ForwardChecks, more_elements_than_kernels_index) {
  const burin_plan_axis long_axes[] = {{"a", 2000000000}, {"b", 2000000000}};
  burin_plan long_rows = rows_plan, long_mask = mask_plan;
  long_rows.axes = long_mask.axes = long_axes;
  const void *inputs[] = {x, x, x};
  void *outputs[] = {mean, placed};
  const int64_t many[] = {1073741824}, most[] = {1073741823}, pairs[] = {46341, 46341};
  Model long_model = open_rows_model(long_rows), mask_model = open_without_weights(mask_plan);
  EXPECT_EQ(burin_rt_forward(&long_rows, long_model.get(), scratch.data(), scratch_bytes, many, inputs, outputs),
            BURIN_TIME_OUT_OF_RANGE);
  EXPECT_EQ(burin_rt_forward(&long_rows, long_model.get(), scratch.data(), scratch_bytes, most, inputs, outputs),
            BURIN_SCRATCH_TOO_SMALL);
  Model long_mask_model = open_without_weights(long_mask);
  EXPECT_EQ(burin_rt_forward(&long_mask, long_mask_model.get(), nullptr, 0, pairs, inputs, outputs),
            BURIN_TIME_OUT_OF_RANGE);
  // More keys in all than 32 bits count, yet each call, one for a sequence, sees few.
  std::vector<int64_t> q_offsets(2201, 0), k_offsets(2201);
  for (size_t s = 0; s < k_offsets.size(); ++s)
    k_offsets[s] = int64_t(s) * 1000000;
  const int64_t *offsets[] = {q_offsets.data(), k_offsets.data()};
  const void *keys_unread[] = {nullptr, reinterpret_cast<void *>(uintptr_t(1) << 50), nullptr};
  EXPECT_EQ(burin_rt_forward_batch(&mask_plan, mask_model.get(), nullptr, 0, 2200, offsets, keys_unread, outputs),
            BURIN_OK);
}

TEST_F(ForwardChecks, a_failing_kernel_ends_the_call) {
  const void *inputs[] = {x};
  void *outputs[] = {mean, placed};
  std::memset(x, 0, 16);
  seen = {.fail_next = true};
  EXPECT_EQ(burin_rt_forward(&rows_plan, model.get(), scratch.data(), scratch_bytes, rows, inputs, outputs),
            BURIN_KERNEL_FAILED);
  EXPECT_EQ(seen.calls, 1);
  seen = {.complain_next = true};
  EXPECT_EQ(burin_rt_forward(&rows_plan, model.get(), scratch.data(), scratch_bytes, rows, inputs, outputs),
            BURIN_KERNEL_FAILED);
  EXPECT_EQ(seen.calls, 1);
  seen = {};
  EXPECT_EQ(burin_rt_forward(&rows_plan, model.get(), scratch.data(), scratch_bytes, rows, inputs, outputs), BURIN_OK);
}

std::vector<std::string> probed;

TEST_F(ForwardChecks, the_probe_stands_around_each_kernel) {
  const void *inputs[] = {x};
  void *outputs[] = {mean, placed};
  std::memset(x, 0, 16);
  probed.clear();
  burin_rt_probe = [](const burin_plan_call *call, int finished) {
    probed.push_back(std::string(call->name) + (finished ? " ends" : " begins"));
  };
  EXPECT_EQ(burin_rt_forward(&rows_plan, model.get(), scratch.data(), scratch_bytes, rows, inputs, outputs), BURIN_OK);
  burin_rt_probe = nullptr;
  EXPECT_EQ(probed, std::vector<std::string>({"triple begins", "triple ends", "mean begins", "mean ends",
                                              "copy_mean begins", "copy_mean ends", "place begins", "place ends"}));
}

TEST(Status, every_status_has_its_own_text) {
  std::vector<std::string> texts;
  for (int status = BURIN_OK; status <= BURIN_STATE_DAMAGED; ++status)
    texts.push_back(burin_status_text(burin_status(status)));
  for (size_t a = 0; a < texts.size(); ++a)
    for (size_t b = 0; b < a; ++b)
      EXPECT_NE(texts[a], texts[b]);
  EXPECT_STREQ(burin_status_text(burin_status(12345)), "unknown status");
}

} // namespace
