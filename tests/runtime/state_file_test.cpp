// Saved states: what one process saves another goes on from, whatever its target's layout; what is foreign or damaged
// is refused, and the state memory is as before.
#include "stream_plans.h"
extern "C" {
#include "hash.h"
}

#include <gtest/gtest.h>

using namespace burin_test;

namespace {

using Bytes = std::vector<unsigned char>;
using Floats = std::vector<float>;

// A state well into its ring, with contexts and a total that float32 does not hold.
void fill(Streams &streams) {
  ASSERT_EQ(streams.reset(int64_t(1) << 33), BURIN_OK);
  ASSERT_EQ(streams.append({1, 2, 3, 4, 5, 6}), BURIN_OK);
  for (int n = 0; n < 2 * RING + 1; ++n)
    ASSERT_EQ(streams.step(float(n) + 0.25f, 1.0f + 0x1p-22f * float(n)), BURIN_OK);
}

class SavedState : public testing::TestWithParam<std::pair<int, int>> {};
INSTANTIATE_TEST_SUITE_P(Layouts, SavedState,
                         testing::Values(std::pair(0, 0), std::pair(0, 4), std::pair(4, 0), std::pair(2, 4)));

TEST_P(SavedState, goes_on_in_any_layout) {
  Streams from(two_streams(GetParam().first)), to(two_streams(GetParam().second));
  fill(from);
  Bytes saved = from.save();
  ASSERT_FALSE(saved.empty());
  ASSERT_EQ(to.step(9, 9), BURIN_OK); // what the state held before is gone
  ASSERT_EQ(to.load(saved), BURIN_OK);
  EXPECT_EQ(to.position(QUERIES), from.position(QUERIES));
  EXPECT_EQ(to.position(CONTEXT), 3);
  for (const char *name : {"ring", "contexts", "total"})
    EXPECT_EQ(to.read(name), from.read(name)) << name;
  EXPECT_EQ(to.save(), saved); // the double sum as well, bit for bit
  ASSERT_EQ(from.append({7, 8}), BURIN_OK);
  ASSERT_EQ(to.append({7, 8}), BURIN_OK);
  for (int n = 0; n < RING + 2; ++n) {
    ASSERT_EQ(from.step(float(n), 1), BURIN_OK);
    ASSERT_EQ(to.step(float(n), 1), BURIN_OK);
    EXPECT_EQ(to.y, from.y);
  }
  ASSERT_EQ(from.advance({1, 2, 3, 4, 5, 6}), BURIN_OK);
  ASSERT_EQ(to.advance({1, 2, 3, 4, 5, 6}), BURIN_OK);
  EXPECT_EQ(to.y, from.y);
  EXPECT_EQ(to.save(), from.save());
}

TEST_P(SavedState, an_empty_one_loads_as_a_reset) {
  Streams from(two_streams(GetParam().first)), to(two_streams(GetParam().second));
  ASSERT_EQ(from.reset(77), BURIN_OK);
  ASSERT_EQ(to.step(9, 9), BURIN_OK);
  ASSERT_EQ(to.load(from.save()), BURIN_OK);
  Bytes loaded = to.state.copy();
  ASSERT_EQ(to.reset(77), BURIN_OK);
  EXPECT_EQ(loaded, to.state.copy());
}

// Nothing of the memory's past stays where no row is kept.
TEST(SavedStates, storage_without_rows_is_zero) {
  Streams from(two_streams(4)), to(two_streams(4)), fresh(two_streams(4));
  for (Streams *streams : {&from, &fresh}) {
    ASSERT_EQ(streams->append({1, 2}), BURIN_OK);
    ASSERT_EQ(streams->step(3, 4), BURIN_OK);
  }
  std::memset(to.state.data(), 0xA5, to.state.size());
  ASSERT_EQ(to.load(from.save()), BURIN_OK);
  EXPECT_EQ(to.state.copy(), fresh.state.copy());
}

TEST(SavedStates, lie_at_any_address) {
  Streams streams(two_streams(2));
  fill(streams);
  Bytes saved = streams.save(), memory(saved.size() + 8);
  for (size_t shift = 0; shift < 8; ++shift) {
    size_t bytes = 0;
    ASSERT_EQ(burin_rt_state_save(&streams.plan, streams.model.get(), streams.state.data(), memory.data() + shift,
                                  saved.size(), &bytes),
              BURIN_OK);
    EXPECT_EQ(Bytes(memory.begin() + shift, memory.begin() + shift + bytes), saved);
    ASSERT_EQ(burin_rt_state_load(&streams.plan, streams.model.get(), streams.state.data(), streams.state.size(),
                                  memory.data() + shift, bytes),
              BURIN_OK);
    EXPECT_EQ(streams.save(), saved);
  }
}

TEST(SavedStates, save_checks_its_call) {
  Streams streams(two_streams(4)), other(two_streams(0));
  fill(streams);
  const Bytes before = streams.state.copy();
  Bytes saved(1000, 0x5A);
  const Bytes untouched = saved;
  size_t bytes = 12345, needed = streams.save().size();
  auto save = [&](const burin_model *model, const void *state, void *to, size_t capacity, size_t *length) {
    return burin_rt_state_save(&streams.plan, model, state, to, capacity, length);
  };
  const burin_model *model = streams.model.get();
  unsigned char *state = streams.state.data();
  EXPECT_EQ(save(nullptr, state, saved.data(), 1000, &bytes), BURIN_NULL_POINTER);
  EXPECT_EQ(save(model, nullptr, saved.data(), 1000, &bytes), BURIN_NULL_POINTER);
  EXPECT_EQ(save(model, state, nullptr, 1000, &bytes), BURIN_NULL_POINTER);
  EXPECT_EQ(save(model, state, saved.data(), 1000, nullptr), BURIN_NULL_POINTER);
  EXPECT_EQ(save(model, state + 8, saved.data(), 1000, &bytes), BURIN_MISALIGNED);
  EXPECT_EQ(save(other.model.get(), state, saved.data(), 1000, &bytes), BURIN_WEIGHTS_MISMATCH);
  EXPECT_EQ(save(model, other.state.data(), saved.data(), 1000, &bytes), BURIN_STATE_FOREIGN);
  EXPECT_EQ(save(model, state, saved.data(), needed - 1, &bytes), BURIN_NO_SUCH_STATE_VALUE);
  EXPECT_EQ(save(model, state, state + streams.state.size() - 1, needed, &bytes), BURIN_OVERLAP);
  EXPECT_EQ(bytes, 12345u);
  EXPECT_EQ(saved, untouched);
  EXPECT_EQ(streams.state.copy(), before);
  EXPECT_EQ(save(model, state, nullptr, 0, &bytes), BURIN_OK); // only how many
  EXPECT_EQ(bytes, needed);
  EXPECT_EQ(save(model, state, saved.data(), needed, &bytes), BURIN_OK);
  EXPECT_EQ(Bytes(saved.begin() + needed, saved.end()), Bytes(1000 - needed, 0x5A)); // and no byte more
}

class Refused : public testing::Test {
protected:
  Streams from{two_streams(4)}, to{two_streams(0)};
  Bytes saved;

  void SetUp() override {
    fill(from);
    ASSERT_EQ(to.append({1, 1}), BURIN_OK);
    ASSERT_EQ(to.step(1, 1), BURIN_OK);
    saved = from.save();
    ASSERT_FALSE(saved.empty());
  }
  // The status, after seeing to it that the state is as before.
  burin_status load(const Bytes &bytes) {
    Bytes before = to.state.copy(), exact = bytes;
    exact.shrink_to_fit();
    burin_status status = to.load(exact);
    EXPECT_NE(status, BURIN_OK);
    EXPECT_EQ(to.state.copy(), before);
    return status;
  }
};

TEST_F(Refused, cut_off_anywhere) {
  for (size_t bytes = 0; bytes < saved.size(); ++bytes) {
    Bytes cut(saved.begin(), saved.begin() + bytes); // without bytes it has no address either
    EXPECT_EQ(load(cut), bytes == 0 ? BURIN_NULL_POINTER : BURIN_STATE_DAMAGED) << bytes;
  }
  EXPECT_EQ(burin_rt_state_load(&to.plan, to.model.get(), to.state.data(), to.state.size(), saved.data(), 0),
            BURIN_STATE_DAMAGED);
}

TEST_F(Refused, with_any_bit_flipped) {
  for (size_t bit = 0; bit < saved.size() * 8; ++bit) {
    saved[bit / 8] = static_cast<unsigned char>(saved[bit / 8] ^ 1u << bit % 8);
    EXPECT_EQ(load(saved), bit < 64 ? BURIN_STATE_FOREIGN : BURIN_STATE_DAMAGED) << "bit " << bit;
    saved[bit / 8] = static_cast<unsigned char>(saved[bit / 8] ^ 1u << bit % 8);
  }
  EXPECT_EQ(to.load(saved), BURIN_OK);
}

TEST_F(Refused, with_anything_behind_it) {
  for (size_t more : {1, 4, 8, 64}) {
    Bytes longer = saved;
    longer.resize(saved.size() + more);
    EXPECT_EQ(load(longer), BURIN_STATE_DAMAGED);
  }
}

TEST_F(Refused, of_another_graph_or_other_values) {
  burin_plan other = to.plan;
  other.graph += 1;
  to.plan = other;
  EXPECT_EQ(load(saved), BURIN_STATE_FOREIGN);
  other.graph -= 1;
  burin_plan_state_value values[3];
  other.state_values = values;
  auto change = [&](auto changed) {
    std::copy_n(two_streams(0).state_values, 3, values);
    changed();
    to.plan = other;
    EXPECT_EQ(load(saved), BURIN_STATE_FOREIGN);
  };
  change([&] { values[0].name = "rings"; });
  change([&] { values[1].features = 3; });
  change([&] { values[0].window = 2; });
  change([&] { values[1].stream = QUERIES; });
  change([&] { std::swap(values[0], values[1]); });
  change([&] { other.state_value_count = 2; });
}

TEST_F(Refused, by_a_load_with_a_wrong_call) {
  const Bytes before = to.state.copy();
  auto try_load = [&](const burin_model *model, void *state, size_t state_bytes, const void *bytes) {
    return burin_rt_state_load(&to.plan, model, state, state_bytes, bytes, saved.size());
  };
  const burin_model *model = to.model.get();
  unsigned char *state = to.state.data();
  EXPECT_EQ(try_load(nullptr, state, to.state.size(), saved.data()), BURIN_NULL_POINTER);
  EXPECT_EQ(try_load(model, nullptr, to.state.size(), saved.data()), BURIN_NULL_POINTER);
  EXPECT_EQ(try_load(model, state, to.state.size(), nullptr), BURIN_NULL_POINTER);
  EXPECT_EQ(try_load(model, state + 4, to.state.size(), saved.data()), BURIN_MISALIGNED);
  EXPECT_EQ(try_load(model, state, to.state.size() - 1, saved.data()), BURIN_SCRATCH_TOO_SMALL);
  EXPECT_EQ(try_load(from.model.get(), state, to.state.size(), saved.data()), BURIN_WEIGHTS_MISMATCH);
  EXPECT_EQ(try_load(model, state, to.state.size(), state + to.state.size() - 1), BURIN_OVERLAP);
  EXPECT_EQ(to.state.copy(), before);
}

// Bytes whose hash is right, yet which no save gives: whoever makes them reaches nothing outside the state.
TEST_F(Refused, with_positions_that_cannot_be) {
  const size_t position_at = 24, start_at = 56;
  auto with = [&](size_t place, std::initializer_list<int64_t> numbers) {
    Bytes made = saved;
    std::memcpy(made.data() + place, numbers.begin(), numbers.size() * 8);
    uint64_t hash = burin_hash(made.data(), made.size() - 8, 0);
    std::memcpy(made.data() + made.size() - 8, &hash, 8);
    return made;
  };
  int64_t position = from.position(), start = int64_t(1) << 33;
  ASSERT_EQ(with(position_at, {position, 3}), saved);
  ASSERT_EQ(with(start_at, {start, 0}), saved);
  const Bytes cases[] = {
      with(position_at, {-1}),
      with(position_at, {start - 1}),
      with(position_at, {INT64_MIN}),
      with(start_at, {-1}),
      with(start_at, {position + 1}),
      with(start_at, {INT64_MAX}),
      with(start_at, {INT64_MIN}),
      with(start_at, {position - 1}),   // fewer kept rows than there are
      with(position_at, {position, 4}), // more of them
      with(position_at, {position, CONTEXT_CAPACITY + 1}),
      with(position_at, {position, INT64_MAX}),
      with(position_at, {position, 3, 1}), // a stream that the plan does not have
      with(start_at, {start, 0, 0, 1}),
  };
  for (const Bytes &made : cases)
    EXPECT_EQ(load(made), BURIN_STATE_DAMAGED) << &made - cases;
  to.streams[QUERIES].position_end = position - 1;
  EXPECT_EQ(load(saved), BURIN_STATE_DAMAGED);
  to.streams[QUERIES].position_end = position;
  EXPECT_EQ(to.load(saved), BURIN_OK);
}

} // namespace
