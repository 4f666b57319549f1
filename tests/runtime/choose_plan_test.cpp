// An object for several targets: which plan opening chooses, what may be forced, and that every call follows the
// choice.
#include "packed_weights.h"

#include "hand_made_plans.h"

#include <gtest/gtest.h>

using namespace burin_test;

namespace {

// Bits that every x86 has, and bits that no processor has. Elsewhere the processor is not asked.
const burin_plan_cpu_bit everywhere = {1, 0, 3, 1u << 26}, nowhere = {0x7FFFFFFF, 0, 0, 1};

class ChoosePlan : public testing::Test {
protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the processor is asked on x86 alone";
#endif
    unsetenv("BURIN_ISA");
  }
  void TearDown() override { unsetenv("BURIN_ISA"); }

  // The best first: "best" runs nowhere unless asked for, "middle" and "least" run.
  void link(const burin_plan &plan, bool best_runs = false) {
    best = middle = least = plan;
    best.target = "best";
    middle.target = "middle";
    least.target = "least";
    best.fallback = &middle;
    middle.fallback = &least;
    best.fingerprint = plan.fingerprint + 1000;
    middle.fingerprint = plan.fingerprint + 2000;
    for (burin_plan *each : {&best, &middle, &least}) {
      each->cpu_bits = each == &best && !best_runs ? &nowhere : &everywhere;
      each->cpu_bit_count = 1;
    }
  }

  Opened open(const char *isa = nullptr) {
    burin_open_options options = {};
    options.isa = isa;
    return open_with(best, options);
  }

  burin_plan best, middle, least;
};

TEST_F(ChoosePlan, the_best_that_the_processor_runs) {
  link(mask_plan);
  Opened opened = open();
  ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
  EXPECT_STREQ(burin_model_isa(opened.model.get()), "middle");
  link(mask_plan, true);
  EXPECT_STREQ(burin_model_isa(open().model.get()), "best");
  EXPECT_EQ(burin_model_isa(nullptr), nullptr);
}

TEST_F(ChoosePlan, none_runs) {
  link(mask_plan);
  middle.cpu_bits = least.cpu_bits = &nowhere;
  Opened opened = open();
  EXPECT_EQ(opened.status, BURIN_CPU_UNSUPPORTED);
  EXPECT_EQ(opened.model, nullptr);
  EXPECT_EQ(opened.message, "this processor, or its operating system, lacks what each of the targets 'best', 'middle' "
                            "and 'least' needs");
}

TEST_F(ChoosePlan, the_one_that_the_option_names) {
  link(mask_plan);
  EXPECT_STREQ(burin_model_isa(open("least").model.get()), "least");
  EXPECT_STREQ(burin_model_isa(open("middle").model.get()), "middle");
  Opened opened = open("best");
  EXPECT_EQ(opened.status, BURIN_CPU_UNSUPPORTED);
  EXPECT_EQ(opened.message, "the open option isa asks for 'best', for which this processor, or its operating system, "
                            "lacks something; of what the object holds, this processor runs 'middle' and 'least'");
  opened = open("other");
  EXPECT_EQ(opened.status, BURIN_NO_SUCH_ISA);
  EXPECT_EQ(opened.message, "the open option isa asks for 'other', but the object holds 'best', 'middle' and 'least'; "
                            "of what the object holds, this processor runs 'middle' and 'least'");
  EXPECT_EQ(open("").status, BURIN_NO_SUCH_ISA);
}

TEST_F(ChoosePlan, the_one_that_the_environment_names_unless_the_option_does) {
  link(mask_plan);
  setenv("BURIN_ISA", "least", 1);
  EXPECT_STREQ(burin_model_isa(open().model.get()), "least");
  EXPECT_STREQ(burin_model_isa(open("middle").model.get()), "middle");
  setenv("BURIN_ISA", "", 1);
  EXPECT_STREQ(burin_model_isa(open().model.get()), "middle");
  setenv("BURIN_ISA", "other", 1);
  Opened opened = open();
  EXPECT_EQ(opened.status, BURIN_NO_SUCH_ISA);
  EXPECT_EQ(opened.message, "the variable BURIN_ISA asks for 'other', but the object holds 'best', 'middle' and "
                            "'least'; of what the object holds, this processor runs 'middle' and 'least'");
}

// Before a model there is no choice: memory for the plan that needs most.
TEST_F(ChoosePlan, scratch_is_enough_for_each) {
  link(rows_plan);
  burin_plan_entry larger = *rows_plan.forward;
  larger.scratch_row_bytes[0] += 640;
  least.forward = &larger;
  const int64_t rows = 3;
  size_t needed = burin_rt_scratch_bytes(&least, &rows, 1);
  EXPECT_GT(needed, burin_rt_scratch_bytes(&rows_plan, &rows, 1));
  EXPECT_EQ(burin_rt_scratch_bytes(&best, &rows, 1), needed);
}

// Calls hand in the first plan, whose kernels must not run.
int fails(void **) { return 1; }

TEST_F(ChoosePlan, calls_run_the_chosen_kernels) {
  link(step_plan);
  burin_plan_call broken_call = step_plan.streams[0].one->calls[0];
  broken_call.kernel = fails;
  burin_plan_entry broken_entry = *step_plan.streams[0].one;
  broken_entry.calls = &broken_call;
  burin_plan_stream broken_stream = step_plan.streams[0];
  broken_stream.one = &broken_entry;
  best.streams = &broken_stream;
  Opened opened = open();
  ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
  const burin_model *model = opened.model.get();

  AlignedMemory state(size_t(step_plan.state_bytes)), scratch(burin_rt_scratch_bytes(&best, nullptr, 1));
  float x[4] = {1, 2, 3, 4}, y[4] = {};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  ASSERT_EQ(burin_rt_reset(&best, model, state.data(), state.size(), 0), BURIN_OK);
  ASSERT_EQ(burin_rt_step(&best, model, state.data(), scratch.data(), scratch.size(), inputs, outputs), BURIN_OK);
  EXPECT_EQ(y[1], 2);
  ASSERT_EQ(burin_rt_advance(&best, model, 0, state.data(), scratch.data(), scratch.size(), 2, inputs, outputs),
            BURIN_OK);
  EXPECT_EQ(y[3], 2 + 2 + 4);
  float sum[2];
  int64_t rows = 0;
  ASSERT_EQ(burin_rt_state_read(&best, model, state.data(), "sum", sum, 2, &rows), BURIN_OK);
  EXPECT_EQ(sum[1], 8);
}

// The layout of a state is the chosen target's; saved, it is none's.
TEST_F(ChoosePlan, a_state_is_the_chosen_targets_and_a_saved_one_is_not) {
  link(step_plan);
  Opened one = open("middle"), other = open("least");
  AlignedMemory state(size_t(step_plan.state_bytes)), second(size_t(step_plan.state_bytes)), scratch(256);
  float x[2] = {1, 2}, y[2];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  ASSERT_EQ(burin_rt_reset(&best, one.model.get(), state.data(), state.size(), 0), BURIN_OK);
  ASSERT_EQ(burin_rt_step(&best, one.model.get(), state.data(), scratch.data(), 256, inputs, outputs), BURIN_OK);
  EXPECT_EQ(burin_rt_step(&best, other.model.get(), state.data(), scratch.data(), 256, inputs, outputs),
            BURIN_STATE_FOREIGN);

  size_t bytes = 0;
  ASSERT_EQ(burin_rt_state_save(&best, one.model.get(), state.data(), nullptr, 0, &bytes), BURIN_OK);
  std::vector<unsigned char> saved(bytes);
  ASSERT_EQ(burin_rt_state_save(&best, one.model.get(), state.data(), saved.data(), bytes, &bytes), BURIN_OK);
  ASSERT_EQ(burin_rt_state_load(&best, other.model.get(), second.data(), second.size(), saved.data(), bytes), BURIN_OK);
  ASSERT_EQ(burin_rt_step(&best, other.model.get(), second.data(), scratch.data(), 256, inputs, outputs), BURIN_OK);
  EXPECT_EQ(y[0], 2);
}

TEST_F(ChoosePlan, a_model_of_another_object_is_refused) {
  link(mask_plan);
  Opened opened = open();
  burin_plan other = best;
  other.fingerprint += 1;
  AlignedMemory scratch(64);
  const int64_t offsets[] = {0, 0}, *both[] = {offsets, offsets};
  const void *inputs[3] = {};
  void *outputs[1] = {};
  EXPECT_EQ(burin_rt_forward_batch(&other, opened.model.get(), scratch.data(), 64, 0, both, inputs, outputs),
            BURIN_WEIGHTS_MISMATCH);
  EXPECT_EQ(burin_rt_forward_batch(&best, opened.model.get(), scratch.data(), 64, 0, both, inputs, outputs), BURIN_OK);
}

// --- packed files, each for one target ---

TEST_F(ChoosePlan, a_packed_file_chooses_its_target_where_that_runs) {
  link(two_tensors_plan());
  for (const burin_plan *target : {&middle, &least}) {
    burin_plan alone = *target;
    alone.fallback = nullptr;
    TemporaryFile file;
    ASSERT_EQ(pack_to(alone, two_tensors(), file.path()), BURIN_OK);
    Opened opened = open_path(best, file.path());
    ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
    EXPECT_STREQ(burin_model_isa(opened.model.get()), target->target);
    EXPECT_EQ(weights_of(*target, opened), packed_weights);
  }
}

TEST_F(ChoosePlan, a_packed_file_for_what_does_not_run_or_was_not_asked_for_is_refused) {
  link(two_tensors_plan(), true);
  TemporaryFile for_best, for_least;
  burin_plan alone = best;
  alone.fallback = nullptr;
  ASSERT_EQ(pack_to(alone, two_tensors(), for_best.path()), BURIN_OK);
  ASSERT_EQ(pack_to(least, two_tensors(), for_least.path()), BURIN_OK);
  link(two_tensors_plan());
  Opened opened = open_path(best, for_best.path());
  EXPECT_EQ(opened.status, BURIN_WEIGHTS_MISMATCH);
  EXPECT_EQ(opened.message, "the packed file is for target 'best', expected 'middle'");
  burin_open_options options = {};
  options.isa = "middle";
  opened = open_path(best, for_least.path(), options);
  EXPECT_EQ(opened.status, BURIN_WEIGHTS_MISMATCH);
  EXPECT_EQ(opened.message, "the packed file is for target 'least', expected 'middle'");
}

TEST_F(ChoosePlan, packing_is_for_the_target_that_is_chosen) {
  link(two_tensors_plan());
  TemporaryFile file;
  ASSERT_EQ(pack_to(best, two_tensors(), file.path()), BURIN_OK);
  EXPECT_STREQ(header_of(file.read()).target, "middle");
}

} // namespace
