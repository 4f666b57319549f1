#include "split_plans.h"
#include "plan_arguments.h"

#include <gtest/gtest.h>
#include <numeric>

namespace burin_test {

SplitSeen split_seen;

std::vector<Stretch> SplitSeen::of(const std::string &kernel) const {
  std::vector<Stretch> found;
  for (const Stretch &stretch : stretches)
    if (kernel == stretch.kernel)
      found.push_back(stretch);
  return found;
}

namespace {

enum : int32_t { TIME = 0, OTHERS = 1 };

int finish(const char *kernel, const burin_kernel_buffer &written) {
  std::lock_guard<std::mutex> lock(split_seen.mutex);
  split_seen.stretches.push_back({kernel, written.host, written.dim[1].min, written.dim[1].extent});
  return split_seen.fails == kernel ? 1 : 0;
}

// context, x, h
int twice(void **arguments) {
  View<float> x(arguments[1]), h(arguments[2]);
  void *context = *static_cast<void **>(arguments[0]);
  auto *doubled = static_cast<float *>(burin_rt_malloc(context, size_t(x.rows()) * sizeof(float)));
  if (!doubled)
    return 1;
  for (int row = 0; row < x.rows(); ++row)
    doubled[row] = 2 * x(0, row);
  for (int row = 0; row < x.rows(); ++row)
    h(0, row) = doubled[row];
  burin_rt_free(context, doubled);
  return finish("twice", *h.buffer);
}

// context, h, context rows, mask, first tile, y
int look(void **arguments) {
  View<float> h(arguments[1]), context(arguments[2]), y(arguments[5]);
  View<uint8_t> mask(arguments[3]);
  int first = *static_cast<int32_t *>(arguments[4]) * SPLIT_TILE;
  if (first != y.buffer->dim[1].min || first + y.rows() > h.rows() || mask.rows() != h.rows())
    return 1;
  for (int row = 0; row < y.rows(); ++row) {
    float sum = h(0, first + row);
    for (int other = 0; other < context.rows(); ++other)
      sum += mask(other, first + row) ? context(0, other) : 0.0f;
    y(0, row) = sum; // the buffer begins at its own first row
  }
  return finish("look", *y.buffer);
}

// context, y, sum
int add_up(void **arguments) {
  View<float> y(arguments[1]), sum(arguments[2]);
  float total = 0;
  for (int row = 0; row < y.rows(); ++row)
    total += y(0, row);
  sum(0) = total;
  return finish("add_up", *sum.buffer);
}

const burin_plan_argument twice_arguments[] = {context_argument(), input(0, TIME, 1), scratch_rows(TIME, 1, 0)};
const burin_plan_argument look_arguments[] = {context_argument(),
                                              scratch_rows(TIME, 1, 0),
                                              input(1, OTHERS, 1),
                                              mask_input(2, TIME, OTHERS),
                                              argument(BURIN_ARG_FIRST_TILE, 0, BURIN_I32, NONE, 0),
                                              output(0, TIME, 1)};
const burin_plan_argument add_up_arguments[] = {context_argument(), output(0, TIME, 1), output(1, SEQUENCE, 1)};

template <int arguments>
constexpr burin_plan_call split_call(int (*kernel)(void **), const char *name,
                                     const burin_plan_argument (&described)[arguments], int32_t per_sequence,
                                     int32_t axis, int32_t units) {
  return {kernel, name, described, arguments, per_sequence, -1, axis, units, SPLIT_WORK};
}
const burin_plan_call calls[] = {split_call(twice, "twice", twice_arguments, 0, TIME, SPLIT_TILE),
                                 split_call(look, "look", look_arguments, 1, TIME, SPLIT_TILE),
                                 split_call(add_up, "add_up", add_up_arguments, 1, SEQUENCE, 1)};
const burin_plan_tensor inputs[] = {tensor("x", TIME, 1), tensor("context", OTHERS, 1),
                                    mask_tensor("mask", TIME, OTHERS)};
const burin_plan_tensor outputs[] = {tensor("y", TIME, 1), tensor("sum", SEQUENCE, 1)};
const burin_plan_entry forward = [] {
  burin_plan_entry made = entry(calls, inputs, outputs);
  made.scratch_row_bytes[TIME] = 64;
  made.kernel_scratch_bytes = BURIN_ARENA_BLOCK_BYTES(256 * sizeof(float));
  return made;
}();
const burin_plan_axis axes[] = {{"time", SPLIT_ROWS}, {"others", SPLIT_ROWS}};

float value(size_t number) { return float(number % 7) + 0.5f; }
uint8_t shown(size_t number) { return number % 3 != 0; }

std::vector<int64_t> sums_of(const std::vector<int64_t> &counts) {
  std::vector<int64_t> offsets{0};
  for (int64_t count : counts)
    offsets.push_back(offsets.back() + count);
  return offsets;
}

size_t scratch_bytes_of(const std::vector<int64_t> &time, const std::vector<int64_t> &others) {
  int64_t rows[] = {time.back(), others.back()};
  return burin_rt_scratch_bytes(&split_plan, rows, int64_t(time.size()) - 1);
}

} // namespace

const burin_plan split_plan = [] {
  burin_plan plan = {};
  plan.version = BURIN_PLAN_VERSION;
  plan.fingerprint = 21;
  plan.name = "split";
  plan.target = "generic";
  plan.forward = &forward;
  plan.axes = axes;
  plan.axis_count = 2;
  plan.worker_work = 100000;
  plan.entry_work = 4000000;
  return plan;
}();

SplitBatch::SplitBatch(const std::vector<int64_t> &rows, const std::vector<int64_t> &others)
    : time_(sums_of(rows)), others_(sums_of(others)), x_(size_t(time_.back())), context_(size_t(others_.back())),
      y_(x_.size(), -1), sums_(rows.size(), -1), scratch_(scratch_bytes_of(time_, others_)) {
  for (size_t i = 0; i < x_.size(); ++i)
    x_[i] = value(i);
  for (size_t i = 0; i < context_.size(); ++i)
    context_[i] = value(3 * i + 1);
  size_t pairs = 0;
  for (size_t s = 0; s < rows.size(); ++s)
    pairs += size_t(rows[s] * others[s]);
  mask_.resize(pairs);
  for (size_t i = 0; i < pairs; ++i)
    mask_[i] = shown(i);
}

burin_status SplitBatch::run(const burin_model *model) {
  split_seen.stretches.clear();
  return run_unseen(model);
}

burin_status SplitBatch::run_unseen(const burin_model *model) {
  const int64_t *offsets[] = {time_.data(), others_.data()};
  const void *given[] = {x_.data(), context_.data(), mask_.data()};
  void *taken[] = {y_.data(), sums_.data()};
  return burin_rt_forward_batch(&split_plan, model, scratch_.data(), scratch_.size(), int64_t(sums_.size()), offsets,
                                given, taken);
}

void SplitBatch::expect_right_results() const {
  size_t pair = 0;
  for (size_t s = 0; s < sums_.size(); ++s) {
    float total = 0;
    for (int64_t row = time_[s]; row < time_[s + 1]; ++row) {
      float sum = 2 * x_[size_t(row)];
      for (int64_t other = others_[s]; other < others_[s + 1]; ++other, ++pair)
        sum += mask_[pair] ? context_[size_t(other)] : 0.0f;
      EXPECT_EQ(y_[size_t(row)], sum) << "row " << row << " of the batch, in sequence " << s;
      total += sum;
    }
    EXPECT_EQ(sums_[s], total) << "sequence " << s;
  }
}

} // namespace burin_test
