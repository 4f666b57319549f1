// A plan whose calls may be split, with plain kernels that write down who got which rows.
//
// `split_plan`: forward(x [time, 1], context [others, 1], mask [time, others]) -> y [time, 1], sum [sequence, 1]
//     h = 2 x  (row-wise, in tiles of 4 rows; through memory of the arena)
//     y_i = h_i + sum of the context's rows that the mask shows row i  (per sequence, in tiles of 4 rows)
//     sum = sum of y over a sequence  (per sequence)
#pragma once

#include "runtime_test.h"

#include <mutex>

namespace burin_test {

enum { SPLIT_TILE = 4, SPLIT_ROWS = 64, SPLIT_WORK = 1000000 };

extern const burin_plan split_plan;

// What one call of a kernel saw: the first row it wrote, in x or in its sequence, and how many.
struct Stretch {
  const char *kernel;
  const void *place; // of its first row
  int first, rows;
};

struct SplitSeen {
  std::mutex mutex;
  std::vector<Stretch> stretches; // in the order in which kernels ended
  std::string fails;              // the kernel that returns an error

  std::vector<Stretch> of(const std::string &kernel) const;
};
extern SplitSeen split_seen;

// A batch of sequences with values that follow from their numbers, memory for its results, and the call.
class SplitBatch {
public:
  explicit SplitBatch(const std::vector<int64_t> &rows, const std::vector<int64_t> &others);
  burin_status run(const burin_model *model);        // what was seen before is forgotten
  burin_status run_unseen(const burin_model *model); // what is seen says nothing: others run at the same time
  void expect_right_results() const;
  const std::vector<float> &x() const { return x_; }
  size_t scratch_bytes() const { return scratch_.size(); }

private:
  std::vector<int64_t> time_{0}, others_{0};
  std::vector<float> x_, context_, y_, sums_;
  std::vector<uint8_t> mask_;
  AlignedMemory scratch_;
};

} // namespace burin_test
