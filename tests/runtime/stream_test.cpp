// Streams over a hand-made plan of two: rows taken at once equal rows taken one after another, a step reads a context
// that it does not change, a ring goes round for ever, and a stream starts at any position.
#include "stream_plans.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace burin_test;

namespace {

using Floats = std::vector<float>;
using Rows = std::vector<int>;

Floats ascending(size_t rows, float first = 1) {
  Floats x(rows * 2);
  std::iota(x.begin(), x.end(), first);
  return x;
}

class EveryTile : public testing::TestWithParam<int> {
protected:
  const burin_plan &plan = two_streams(GetParam());

  // Outputs of x, one step after another.
  static Floats by_steps(Streams &streams, const Floats &x) {
    Floats y;
    for (size_t row = 0; row < x.size() / 2; ++row) {
      EXPECT_EQ(streams.step(x[2 * row], x[2 * row + 1]), BURIN_OK);
      y.insert(y.end(), streams.y.begin(), streams.y.end());
    }
    return y;
  }
};
INSTANTIATE_TEST_SUITE_P(Stream, EveryTile, testing::Values(0, 2, 4));

// Whatever the number of rows, where it starts in the ring, and what scratch has room for.
TEST_P(EveryTile, advance_equals_steps) {
  for (size_t before = 0; before < 8; ++before)
    for (size_t rows = 0; rows < 14; ++rows)
      for (int64_t at_once = 1; at_once <= MOST_ROWS; ++at_once) {
        Streams steps(plan), chunks(plan, at_once);
        Floats history = ascending(before, 50), x = ascending(rows);
        ASSERT_EQ(steps.append({5, 0, 7, 0}), BURIN_OK);
        ASSERT_EQ(chunks.append({5, 0, 7, 0}), BURIN_OK);
        by_steps(steps, history);
        by_steps(chunks, history);
        streams_seen = {};
        Floats expected = by_steps(steps, x);
        streams_seen = {};
        ASSERT_EQ(chunks.advance(x), BURIN_OK);
        EXPECT_EQ(chunks.y, expected) << before << " rows before, " << rows << " rows, " << at_once << " at once";
        EXPECT_EQ(chunks.state.copy(), steps.state.copy());
        EXPECT_EQ(chunks.position(), int64_t(before + rows));
      }
}

TEST_P(EveryTile, advance_takes_as_many_rows_as_scratch_has_room_for) {
  const std::vector<Rows> expected = {{1, 1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 1}, {3, 3, 3}, {4, 4, 1}};
  for (int64_t at_once = 1; at_once <= 9; ++at_once) {
    Streams streams(plan, at_once);
    ASSERT_EQ(streams.advance(ascending(9)), BURIN_OK);
    EXPECT_EQ(streams_seen.rows, expected[size_t(std::min<int64_t>(at_once, MOST_ROWS)) - 1]) << at_once;
  }
  // Every size from that of one row on does, and one byte less than that of two rows is for one.
  size_t one = Streams(plan, 1).scratch.size(), two = Streams(plan, 2).scratch.size();
  EXPECT_EQ(one, 64u);
  EXPECT_EQ(two, 64u + 2 * 64u); // positions, and two rows
  Streams streams(plan);
  for (size_t bytes = one; bytes < streams.scratch.size(); ++bytes) {
    Floats x = ascending(2), y(4, -1.0f);
    const void *inputs[] = {x.data()};
    void *outputs[] = {y.data()};
    streams_seen = {};
    AlignedMemory scratch(bytes); // a sanitizer sees what is used beyond it
    ASSERT_EQ(burin_rt_advance(&streams.plan, streams.model.get(), QUERIES, streams.state.data(), scratch.data(), bytes,
                               2, inputs, outputs),
              BURIN_OK);
    EXPECT_EQ(streams_seen.rows, bytes < two ? Rows({1, 1}) : Rows({2})) << bytes;
  }
}

TEST_P(EveryTile, a_single_row_and_a_stream_without_many_go_row_by_row) {
  Streams streams(plan);
  burin_plan_entry no_calls = *plan.streams[QUERIES].many;
  no_calls.call_count = 0;
  streams.streams[QUERIES].many = &no_calls;
  ASSERT_EQ(streams.advance({1, 2}), BURIN_OK);
  EXPECT_EQ(streams_seen.rows, Rows({1}));
  streams.streams[QUERIES].many = nullptr;
  streams_seen = {};
  ASSERT_EQ(streams.advance(ascending(3)), BURIN_OK);
  EXPECT_EQ(streams_seen.rows, Rows({1, 1, 1}));
}

TEST_P(EveryTile, a_step_reads_the_context_and_does_not_change_it) {
  Streams streams(plan);
  ASSERT_EQ(streams.step(1, 0), BURIN_OK);
  EXPECT_EQ(streams.y, Floats({2, 0})); // no context yet
  ASSERT_EQ(streams.append({10, 1, 20, 2}), BURIN_OK);
  EXPECT_EQ(streams.position(CONTEXT), 2);
  EXPECT_EQ(streams.position(QUERIES), 1);
  ASSERT_EQ(streams.step(1, 0), BURIN_OK);
  EXPECT_EQ(streams.y, Floats({4, 31}));
  ASSERT_EQ(streams.append({30, 3}), BURIN_OK);
  ASSERT_EQ(streams.advance({1, 0, 1, 0}), BURIN_OK);
  EXPECT_EQ(streams.y, Floats({6, 62, 6, 63}));
  EXPECT_EQ(streams.read("contexts"), Floats({10, 1, 20, 2, 30, 3}));
  EXPECT_EQ(streams.position(CONTEXT), 3);
  EXPECT_EQ(streams.position(QUERIES), 4);
}

TEST_P(EveryTile, a_context_beyond_its_capacity_leaves_the_state_as_before) {
  Streams streams(plan);
  ASSERT_EQ(streams.append(ascending(4)), BURIN_OK);
  std::vector<unsigned char> before = streams.state.copy();
  streams_seen = {};
  EXPECT_EQ(streams.append(ascending(2)), BURIN_STATE_FULL);
  EXPECT_EQ(streams_seen.calls, 0);
  EXPECT_EQ(streams.state.copy(), before);
  ASSERT_EQ(streams.append(ascending(1, 9)), BURIN_OK);
  EXPECT_EQ(streams.append(ascending(1)), BURIN_STATE_FULL);
  EXPECT_EQ(streams.append({}), BURIN_OK);
  EXPECT_EQ(streams.read("contexts"), Floats({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(streams.step(1, 2), BURIN_OK); // the queries go on
}

TEST_P(EveryTile, a_ring_keeps_the_last_rows_through_every_lap) {
  Streams streams(plan);
  Floats all;
  for (int n = 0; n < 4 * RING + 1; ++n) {
    size_t kept = size_t(std::min(n, int(WINDOW)));
    EXPECT_EQ(streams.read("ring"), Floats(all.end() - 2 * kept, all.end())) << "after " << n << " rows";
    ASSERT_EQ(streams.step(float(n), float(-n)), BURIN_OK);
    EXPECT_EQ(streams.y[0], float(2 * (n + std::max(n - 1, 0) + std::max(n - 2, 0))));
    all.insert(all.end(), {float(2 * n), float(-2 * n)});
  }
  EXPECT_EQ(streams.read("total"), Floats({-float(4 * RING * (4 * RING + 1))}));
}

TEST_P(EveryTile, a_stream_starts_at_any_position) {
  for (int64_t start : {int64_t(1), int64_t(7), int64_t(1) << 40}) {
    Streams streams(plan), fresh(plan);
    ASSERT_EQ(streams.append({1, 0}), BURIN_OK);
    ASSERT_EQ(streams.reset(start), BURIN_OK);
    EXPECT_EQ(streams.position(QUERIES), start);
    EXPECT_EQ(streams.position(CONTEXT), 0);
    EXPECT_EQ(streams.read("ring"), Floats());
    Floats x = ascending(3);
    ASSERT_EQ(streams.step(5, 6), BURIN_OK);
    EXPECT_EQ(streams.y, Floats({10, float(start)}));
    ASSERT_EQ(streams.advance(x), BURIN_OK);
    EXPECT_EQ(streams.position(QUERIES), start + 4);
    EXPECT_EQ(streams.y[3], float(start + 2));
    ASSERT_EQ(fresh.step(5, 6), BURIN_OK);
    ASSERT_EQ(fresh.advance(x), BURIN_OK);
    EXPECT_EQ(streams.read("ring"), fresh.read("ring")); // rows are counted from the reset
  }
}

TEST_P(EveryTile, positions_that_cannot_be_are_refused) {
  Streams streams(plan);
  ASSERT_EQ(streams.step(1, 2), BURIN_OK);
  std::vector<unsigned char> before = streams.state.copy();
  EXPECT_EQ(streams.reset(-1), BURIN_TIME_OUT_OF_RANGE);
  EXPECT_EQ(streams.reset(INT64_MIN), BURIN_TIME_OUT_OF_RANGE);
  streams.streams[QUERIES].position_end = 10;
  EXPECT_EQ(streams.reset(11), BURIN_TIME_OUT_OF_RANGE);
  EXPECT_EQ(streams.state.copy(), before);
  ASSERT_EQ(streams.reset(10), BURIN_OK);
  EXPECT_EQ(streams.step(1, 2), BURIN_STATE_FULL);
  ASSERT_EQ(streams.reset(7), BURIN_OK);
  EXPECT_EQ(streams.advance(ascending(4)), BURIN_STATE_FULL);
  EXPECT_EQ(streams.position(), 7);
  EXPECT_EQ(streams.advance(ascending(3)), BURIN_OK);
  EXPECT_EQ(streams.step(1, 2), BURIN_STATE_FULL);
  // A stream without an end has one: that of 64-bit positions.
  streams.streams[QUERIES].position_end = -1;
  ASSERT_EQ(streams.reset(INT64_MAX - 1), BURIN_OK);
  EXPECT_EQ(streams.advance(ascending(2)), BURIN_STATE_FULL);
  EXPECT_EQ(streams.step(1, 2), BURIN_OK);
  EXPECT_EQ(streams.step(1, 2), BURIN_STATE_FULL);
}

// The capacity counts rows since the reset, wherever that put the position.
TEST_P(EveryTile, capacity_counts_rows_and_not_positions) {
  Streams streams(plan);
  streams.streams[QUERIES].capacity = 3;
  ASSERT_EQ(streams.reset(1000), BURIN_OK);
  EXPECT_EQ(streams.advance(ascending(4)), BURIN_STATE_FULL);
  EXPECT_EQ(streams.advance(ascending(3)), BURIN_OK);
  EXPECT_EQ(streams.step(1, 2), BURIN_STATE_FULL);
  EXPECT_EQ(streams.position(), 1003);
}

TEST_P(EveryTile, a_failed_kernel_leaves_the_position_where_its_rows_begin) {
  Streams streams(plan);
  streams_seen.fail_at_call = 4; // in the second four rows
  EXPECT_EQ(streams.advance(ascending(9)), BURIN_KERNEL_FAILED);
  EXPECT_EQ(streams.position(), 4);
  streams_seen = {};
  streams_seen.fail_at_call = 1;
  EXPECT_EQ(streams.step(1, 2), BURIN_KERNEL_FAILED);
  EXPECT_EQ(streams.position(), 4);
}

TEST(Stream, a_copy_of_a_state_goes_on_by_itself) {
  Streams trunk(two_streams(4)), branch(two_streams(4));
  ASSERT_EQ(trunk.append({3, 0}), BURIN_OK);
  ASSERT_EQ(trunk.advance(ascending(5)), BURIN_OK);
  std::memcpy(branch.state.data(), trunk.state.data(), trunk.state.size());
  ASSERT_EQ(branch.advance(ascending(3, 100)), BURIN_OK);
  ASSERT_EQ(branch.append({4, 0}), BURIN_OK);
  ASSERT_EQ(trunk.step(1, 1), BURIN_OK);
  EXPECT_EQ(trunk.y, Floats({2 * (7 + 9 + 1), 3 + 5}));
  EXPECT_EQ(trunk.position(CONTEXT), 1);
  EXPECT_EQ(branch.position(), 8);
}

TEST(Stream, a_state_that_ends_before_it_starts_is_foreign) {
  Streams streams(two_streams(0));
  auto *start = reinterpret_cast<int64_t *>(streams.state.data() + 48);
  for (int stream : {QUERIES, CONTEXT})
    for (int64_t wrong : {int64_t(1), int64_t(-1), INT64_MIN, INT64_MAX}) {
      ASSERT_EQ(streams.reset(), BURIN_OK);
      start[stream] = wrong;
      EXPECT_EQ(streams.step(1, 2), BURIN_STATE_FOREIGN);
      EXPECT_EQ(streams.append({1, 2}), BURIN_STATE_FOREIGN);
      EXPECT_EQ(streams.save(), std::vector<unsigned char>());
      EXPECT_EQ(streams.read("ring"), Floats({-1}));
    }
}

TEST(Stream, no_such_stream) {
  Streams streams(two_streams(0));
  for (int32_t stream : {-1, 2, INT32_MAX, INT32_MIN})
    EXPECT_EQ(burin_rt_advance(&streams.plan, streams.model.get(), stream, streams.state.data(), streams.scratch.data(),
                               streams.scratch.size(), 1, nullptr, nullptr),
              BURIN_NO_STEP);
  EXPECT_EQ(burin_rt_advance(&streams.plan, streams.model.get(), CONTEXT, streams.state.data(), streams.scratch.data(),
                             streams.scratch.size(), -1, nullptr, nullptr),
            BURIN_TIME_OUT_OF_RANGE);
  EXPECT_EQ(streams.position(-1), -1);
  EXPECT_EQ(streams.position(BURIN_MAX_AXES), -1);
}

// What rows taken at once use of scratch, beyond that of a single row, overlaps nothing either.
TEST(Stream, advance_checks_all_the_scratch_that_it_uses) {
  Streams streams(two_streams(0));
  Floats x = ascending(4);
  AlignedMemory scratch(streams.scratch.size() + 64);
  size_t bytes = streams.scratch.size();
  std::memset(scratch.data(), 0, scratch.size());
  std::vector<unsigned char> before = streams.state.copy();
  const void *inputs[] = {x.data()};
  void *outputs[] = {scratch.data() + bytes - 32}; // behind the scratch of one row
  auto advance = [&](int64_t count, size_t scratch_bytes) {
    return burin_rt_advance(&streams.plan, streams.model.get(), QUERIES, streams.state.data(), scratch.data(),
                            scratch_bytes, count, inputs, outputs);
  };
  EXPECT_EQ(advance(4, bytes), BURIN_OVERLAP);
  EXPECT_EQ(streams.state.copy(), before);
  EXPECT_EQ(advance(4, 64), BURIN_OK); // row by row it uses no more than 64 bytes
  EXPECT_EQ(advance(1, bytes), BURIN_OK);
  EXPECT_EQ(advance(1, 63), BURIN_SCRATCH_TOO_SMALL);
}

TEST(Stream, scratch_sizes_cover_every_entry) {
  const burin_plan &plan = two_streams(0);
  auto bytes = [&](int64_t queries) {
    int64_t rows[] = {queries, 3};
    return burin_rt_scratch_bytes(&plan, rows, 1);
  };
  EXPECT_EQ(burin_rt_scratch_bytes(&plan, nullptr, 0), 64u);
  for (int64_t queries : {int64_t(-5), int64_t(0), int64_t(1)})
    EXPECT_EQ(bytes(queries), 64u);
  EXPECT_EQ(bytes(3), 64u + 3 * 64u);
  EXPECT_EQ(bytes(MOST_ROWS), 64u + MOST_ROWS * 64u);
  EXPECT_EQ(bytes(INT64_MAX), 64u + MOST_ROWS * 64u);
}

} // namespace
