// A plan of two streams, written by hand: a windowed query stream that never ends, and a context of a few rows.
//
//     step(x [2]) -> y [2]      h = 2 x, kept in a ring whose last WINDOW rows count
//         y_0 = sum of h_0 over the window · y_1 = sum of all contexts' c_0 so far + the position
//         "total": double sum of all h_1
//     append_context(c [2])     kept in "contexts"
//
// `many` of the query stream takes up to MOST_ROWS rows; the context has none. Both caches have `tile` layout, so that
// plans of different tiles are one graph for different targets.
#pragma once

#include "runtime_test.h"

namespace burin_test {

enum { WINDOW = 3, MOST_ROWS = 4, RING = WINDOW - 1 + MOST_ROWS, CONTEXT_CAPACITY = 5 };
enum { QUERIES = 0, CONTEXT = 1 }; // streams, and axes

const burin_plan &two_streams(int tile); // 0, 2 or 4

// Calls of kernels, and rows of the queries' calls in turn: {4, 1} where advance took 4 rows at once and then one.
struct StreamsSeen {
  int calls = 0;
  std::vector<int> rows;
  int fail_at_call = -1;
};
extern StreamsSeen streams_seen;

// A state of the plan, and scratch for `at_once` rows.
class Streams {
public:
  explicit Streams(const burin_plan &plan, int64_t at_once = MOST_ROWS);
  Streams(const Streams &) = delete; // the model keeps the address of the plan

  burin_status reset(int64_t position = 0);
  burin_status step(float a, float b);
  // Rows of x by `advance`; y gets their outputs.
  burin_status advance(const std::vector<float> &x);
  burin_status append(const std::vector<float> &c);
  int64_t position(int stream = QUERIES) const { return burin_state_stream_position(state.data(), stream); }
  // The rows that state_read gives.
  std::vector<float> read(const char *name) const;
  std::vector<unsigned char> save() const;
  burin_status load(const std::vector<unsigned char> &saved);

  burin_plan plan;
  burin_plan_stream streams[2]; // the plan's, for tests that change one
  Model model;
  AlignedMemory state, scratch;
  std::vector<float> y;
};

} // namespace burin_test
