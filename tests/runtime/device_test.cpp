// What the runtime asks of a GPU, and when: a table of functions that writes down how it is called, and runs the
// kernels where they are.
#include "device.h"
#include "hand_made_plans.h"

#include <gtest/gtest.h>

using namespace burin_test;

namespace {

using Floats = std::vector<float>;
using Log = std::vector<std::string>;

Log asked;
burin_status begin_gives, end_gives;
bool opens;

extern const burin_device_api recorder;
burin_device the_device = {&recorder};
burin_device_call the_call = {&recorder};

burin_device *open_device(const void *, size_t bytes) {
  asked.push_back("open " + std::to_string(bytes));
  return opens ? &the_device : nullptr;
}
void close_device(burin_device *) { asked.push_back("close"); }
burin_status begin_call(burin_device *, const burin_device_memory *memory, burin_device_call **call) {
  asked.push_back("begin " + std::to_string(memory->input_count) + " " + std::to_string(memory->output_count) +
                  (memory->state ? " state" : ""));
  if (begin_gives == BURIN_OK)
    *call = &the_call;
  return begin_gives;
}
burin_status upload(burin_device_call *, const void *, size_t) {
  asked.push_back("upload");
  return BURIN_OK;
}
int run(burin_device_call *, const burin_plan_call *kernel, void **arguments) {
  asked.push_back(kernel->name);
  return kernel->kernel(arguments);
}
burin_status end_call(burin_device_call *, burin_status status) {
  asked.push_back("end " + std::to_string(status));
  return status == BURIN_OK ? end_gives : status;
}
burin_status write_state(burin_device *, void *, size_t bytes) {
  asked.push_back("write_state " + std::to_string(bytes));
  return BURIN_OK;
}
burin_status read_state(burin_device *, const void *) {
  asked.push_back("read_state");
  return BURIN_OK;
}

const burin_device_api recorder = {open_device, close_device, begin_call,  upload,
                                   run,         end_call,     write_state, read_state};

burin_plan on_device(burin_plan plan) {
  plan.device = &recorder;
  return plan;
}

class Device : public testing::Test {
protected:
  burin_plan rows = on_device(rows_plan), steps = on_device(step_plan);
  Floats mean = Floats(4, -1), placed = Floats(6, -1);

  void SetUp() override {
    asked.clear();
    begin_gives = end_gives = BURIN_OK;
    opens = true;
    seen = {};
  }
  burin_status forward_batch(const burin_model *model) {
    const int64_t offsets[] = {0, 1, 3}, *offset_arrays[] = {offsets};
    Floats x = {1, 2, 3, 4, 5, 6};
    AlignedMemory scratch(burin_rt_scratch_bytes(&rows, &offsets[2], 2));
    const void *inputs[] = {x.data()};
    void *outputs[] = {mean.data(), placed.data()};
    return burin_rt_forward_batch(&rows, model, scratch.data(), scratch.size(), 2, offset_arrays, inputs, outputs);
  }
};

// Nothing is asked of the host between two kernels.
TEST_F(Device, forward_begins_once_runs_every_kernel_and_ends_once) {
  Model model = open_rows_model(rows);
  ASSERT_EQ(asked, Log({"open 128"}));
  asked.clear();
  ASSERT_EQ(forward_batch(model.get()), BURIN_OK);
  EXPECT_EQ(asked, Log({"begin 1 2", "upload", "triple", "mean", "mean", "copy_mean", "place", "end 0"}));
  EXPECT_EQ(mean, Floats({3, 6, 12, 15}));
  asked.clear();
  model.reset();
  EXPECT_EQ(asked, Log({"close"}));
}

TEST_F(Device, a_status_of_any_part_of_a_call_is_the_call_s) {
  Model model = open_rows_model(rows);
  asked.clear();
  begin_gives = BURIN_OUT_OF_MEMORY;
  EXPECT_EQ(forward_batch(model.get()), BURIN_OUT_OF_MEMORY);
  EXPECT_EQ(asked, Log({"begin 1 2"}));
  asked.clear();
  begin_gives = BURIN_OK;
  seen.fail_next = true;
  EXPECT_EQ(forward_batch(model.get()), BURIN_KERNEL_FAILED);
  EXPECT_EQ(asked, Log({"begin 1 2", "upload", "triple", "end " + std::to_string(BURIN_KERNEL_FAILED)}));
  end_gives = BURIN_OUT_OF_MEMORY;
  EXPECT_EQ(forward_batch(model.get()), BURIN_OUT_OF_MEMORY);
}

TEST_F(Device, a_call_with_something_wrong_asks_nothing) {
  Model model = open_rows_model(rows);
  asked.clear();
  int64_t count[] = {3};
  Floats x(6);
  const void *inputs[] = {x.data()};
  void *outputs[] = {mean.data(), placed.data()};
  EXPECT_EQ(burin_rt_forward(&rows, model.get(), nullptr, 0, count, inputs, outputs), BURIN_NULL_POINTER);
  EXPECT_EQ(asked, Log());
}

TEST_F(Device, none_is_a_status_when_a_model_is_opened) {
  opens = false;
  std::string file = file_with(R"({"factor":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", float_bytes({3}));
  Opened opened = open_bytes(rows, file);
  EXPECT_EQ(opened.status, BURIN_CPU_UNSUPPORTED);
  EXPECT_EQ(opened.message, "the weights cannot go to a GPU: no driver or device that target 'generic' can use, or too "
                            "little memory on it");
  EXPECT_EQ(asked, Log({"open 128"})); // and nothing is closed that was not opened
}

TEST_F(Device, a_state_goes_there_when_it_is_written_and_comes_back_when_it_is_read) {
  Model model = open_without_weights(steps);
  AlignedMemory state(size_t(steps.state_bytes)), scratch(burin_rt_scratch_bytes(&steps, nullptr, 0));
  asked.clear();
  ASSERT_EQ(burin_rt_reset(&steps, model.get(), state.data(), state.size(), 0), BURIN_OK);
  EXPECT_EQ(asked, Log({"write_state 320"}));
  asked.clear();
  Floats x = {1, 2}, y = {-1, -1};
  const void *inputs[] = {x.data()};
  void *outputs[] = {y.data()};
  ASSERT_EQ(burin_rt_step(&steps, model.get(), state.data(), scratch.data(), scratch.size(), inputs, outputs),
            BURIN_OK);
  EXPECT_EQ(asked, Log({"begin 1 1 state", "remember", "end 0"}));
  EXPECT_EQ(burin_state_position(state.data()), 1);
  asked.clear();
  int64_t kept = 0;
  ASSERT_EQ(burin_rt_state_read(&steps, model.get(), state.data(), "plain", y.data(), 2, &kept), BURIN_OK);
  EXPECT_EQ(asked, Log({"read_state"}));
  // What the device does not know as a state is refused by it, and the position stays.
  begin_gives = BURIN_STATE_FOREIGN;
  EXPECT_EQ(burin_rt_step(&steps, model.get(), state.data(), scratch.data(), scratch.size(), inputs, outputs),
            BURIN_STATE_FOREIGN);
  EXPECT_EQ(burin_state_position(state.data()), 1);
}

} // namespace
