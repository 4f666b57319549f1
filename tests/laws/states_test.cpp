// A state is a value: streams do not disturb one another, a copy goes on from the same point, and so do bytes that were
// saved, on another target as well; what a stream has no room for leaves it as it was.
#include "law_graphs.h"

using namespace burin;
using namespace burin::laws;

BURIN_LAW(states, [](const LawGraph &graph) { return graph.streams; });

class states_on_other_targets : public Law {};
INSTANTIATE_TEST_SUITE_P(, states_on_other_targets,
                         testing::ValuesIn(casesOfSharedForm([](const LawGraph &graph) { return graph.streams; })),
                         laws::nameOf);

static constexpr int64_t samples = 37; // past the first tile of keys

/// A stream with all contexts of the sequence, and `rows` steps of it.
static std::unique_ptr<Stream> streamAt(const OpenedModel &model, const Sequence &sequence, int64_t rows) {
  auto stream = std::make_unique<Stream>(model, longest);
  stream->appendContexts(sequence);
  stream->advance(sequence, 0, rows);
  return stream;
}

static std::string stepAfter(const std::string &what, int64_t row) {
  return "step " + std::to_string(row + 1) + " " + what;
}

TEST_P(states, of_two_streams_do_not_disturb_one_another) {
  const uint64_t seed = 22;
  Sequence first = randomSequence(samples, seed), second = randomSequence(samples, seed + 1);
  std::vector<Outputs> expected;
  for (const Sequence *sequence : {&first, &second}) {
    std::unique_ptr<Stream> alone = streamAt(opened(), *sequence, 0);
    for (int64_t row = 0; row < samples; ++row)
      expected.push_back(alone->step(*sequence, row));
  }
  std::unique_ptr<Stream> one = streamAt(opened(), first, 0), other = streamAt(opened(), second, 0);
  for (int64_t row = 0; row < samples; ++row)
    for (bool isFirst : {true, false}) {
      Outputs got = isFirst ? one->step(first, row) : other->step(second, row);
      if (!expectSameOutputs(stepAfter("of two streams in turn", row), seed, got,
                             expected[isFirst ? row : samples + row]))
        return;
    }
}

TEST_P(states, are_fresh_after_a_reset_whatever_came_before) {
  const uint64_t seed = 24;
  Sequence longer = randomSequence(samples, seed), shorter = randomSequence(9, seed + 1);
  std::unique_ptr<Stream> used = streamAt(opened(), longer, samples), fresh = streamAt(opened(), shorter, 0);
  require("reset", used->reset());
  for (int number = 0; number < opened().plan().stream_count; ++number)
    EXPECT_EQ(used->position(number), 0) << rerunCommand();
  used->appendContexts(shorter);
  for (int64_t row = 0; row < 9; ++row)
    if (!expectSameOutputs(stepAfter("after a reset", row), seed, used->step(shorter, row), fresh->step(shorter, row)))
      return;
}

// A copy of the bytes is a branch: each goes on with rows of its own, and as if the other were not there.
TEST_P(states, that_are_copied_go_on_apart) {
  const uint64_t seed = 27;
  Sequence one = randomSequence(samples, seed), other = randomSequence(samples, seed + 1);
  std::unique_ptr<Stream> trunk = streamAt(opened(), one, 20), alone = streamAt(opened(), one, 20);
  Stream branch(*trunk, longest), expectedBranch(*alone, longest);
  if (isOnDevice()) { // as the name says; what can be copied is what state_save gives
    branch.feed(other, 20);
    EXPECT_EQ(branch.step(), BURIN_STATE_FOREIGN) << rerunCommand();
    EXPECT_EQ(branch.advance(1), BURIN_STATE_FOREIGN) << rerunCommand();
    GTEST_SKIP() << target().name.str() << ": its states are on a device, and a copy of the bytes is refused";
  }
  std::vector<Outputs> expected, expectedOfBranch;
  for (int64_t row = 20; row < samples; ++row)
    expected.push_back(alone->step(one, row));
  for (int64_t row = 20; row < samples; ++row)
    expectedOfBranch.push_back(expectedBranch.step(other, row));
  for (int64_t row = 20; row < samples; ++row)
    if (!expectSameOutputs(stepAfter("of the branch", row), seed + 1, branch.step(other, row),
                           expectedOfBranch[row - 20]) ||
        !expectSameOutputs(stepAfter("of the trunk", row), seed, trunk->step(one, row), expected[row - 20]))
      return;
}

// Saved at every stage: empty, within the first tile of keys, beyond it.
TEST_P(states, that_are_saved_and_loaded_go_on_bit_for_bit) {
  const uint64_t seed = 28;
  Sequence sequence = randomSequence(samples, seed);
  for (int64_t rows : {0, 5, 33}) {
    std::unique_ptr<Stream> stream = streamAt(opened(), sequence, rows);
    Stream loaded(opened());
    require("state_load", loaded.load(stream->save()));
    EXPECT_EQ(loaded.save(), stream->save()) << "saved again\nrerun: " << rerunCommand();
    for (int number = 0; number < opened().plan().stream_count; ++number)
      ASSERT_EQ(loaded.position(number), stream->position(number));
    for (int64_t row = rows; row < samples; ++row)
      if (!expectSameOutputs(stepAfter("of a loaded state", row), seed, loaded.step(sequence, row),
                             stream->step(sequence, row)))
        return;
  }
}

TEST_P(states, that_are_damaged_are_refused_and_nothing_changes) {
  Sequence sequence = randomSequence(9, 29);
  std::unique_ptr<Stream> stream = streamAt(opened(), sequence, 9);
  std::vector<char> saved = stream->save();
  Stream other(opened());
  std::string before = other.stateBytes();
  for (size_t bytes = 0; bytes < saved.size(); bytes += 1 + saved.size() / 50)
    EXPECT_EQ(other.load(llvm::ArrayRef(saved).take_front(bytes)), BURIN_STATE_DAMAGED)
        << "the first " << bytes << " bytes of " << saved.size() << "\nrerun: " << rerunCommand();
  for (size_t byte = 8; byte < saved.size(); byte += 1 + saved.size() / 50) {
    saved[byte] = char(saved[byte] ^ 1);
    EXPECT_EQ(other.load(saved), BURIN_STATE_DAMAGED) << "byte " << byte << "\nrerun: " << rerunCommand();
    saved[byte] = char(saved[byte] ^ 1);
  }
  EXPECT_TRUE(other.stateBytes() == before) << "the state has changed\nrerun: " << rerunCommand();
}

// One row past what a stream takes: a status, and state and outputs are as before. One row less than that is taken.
TEST_P(states, have_no_room_past_the_capacity_and_stay_as_they_are) {
  const burin_plan &plan = opened().plan();
  for (int number = 0; number < plan.stream_count; ++number) {
    const int64_t capacity = plan.streams[number].capacity, end = plan.streams[number].position_end;
    if (capacity < 0 && end < 0)
      continue; // it has no end
    const int64_t room = capacity < 0 ? end : end < 0 ? capacity : std::min(capacity, end);
    ASSERT_GE(room, longest) << "as many rows as forward takes";
    Sequence sequence = randomSequence(room + 1, 26);
    Stream stream(opened(), room + 1);
    stream.feed(sequence, 0, room, number);
    require("advance", stream.advance(room, number));
    EXPECT_FALSE(stream.hasRoom(number));
    std::string state = stream.stateBytes();
    Outputs outputs = stream.results();
    stream.feed(sequence, room, 1, number);
    EXPECT_EQ(stream.advance(1, number), BURIN_STATE_FULL)
        << plan.streams[number].name << "\nrerun: " << rerunCommand();
    if (number == 0) {
      EXPECT_EQ(stream.step(), BURIN_STATE_FULL) << rerunCommand();
    }
    EXPECT_TRUE(stream.stateBytes() == state) << "the state has changed\nrerun: " << rerunCommand();
    EXPECT_TRUE(stream.results() == outputs || number > 0) << "outputs have changed\nrerun: " << rerunCommand();
    // More rows than there is room for: none is taken.
    require("reset", stream.reset());
    state = stream.stateBytes();
    stream.feed(sequence, 0, room + 1, number);
    EXPECT_EQ(stream.advance(room + 1, number), BURIN_STATE_FULL) << rerunCommand();
    EXPECT_TRUE(stream.stateBytes() == state) << "the state has changed\nrerun: " << rerunCommand();
  }
}

// What one target saved another loads, and goes on as the first does, where both share a numeric form.
TEST_P(states_on_other_targets, are_loaded_from_each_other) {
  const uint64_t seed = 51;
  const OpenedModel &other = LawModel::of(law(), firstOfItsForm(target())).opened;
  Sequence sequence = randomSequence(samples, seed);
  for (int64_t rows : {0, 5, 33}) {
    std::unique_ptr<Stream> here = streamAt(opened(), sequence, rows), there = streamAt(other, sequence, rows);
    EXPECT_EQ(here->save(), there->save()) << "the bytes differ after " << rows << " rows\nrerun: " << rerunCommand();
    Stream fromThere(opened()), fromHere(other);
    require("state_load", fromThere.load(there->save()));
    require("state_load", fromHere.load(here->save()));
    for (int64_t row = rows; row < samples; ++row) {
      Outputs expected = here->step(sequence, row);
      if (!expectSameOutputs(stepAfter("of a state from " + firstOfItsForm(target()).name.str(), row), seed,
                             fromThere.step(sequence, row), expected) ||
          !expectSameOutputs(stepAfter("of a state on " + firstOfItsForm(target()).name.str(), row), seed,
                             fromHere.step(sequence, row), expected))
        return;
    }
  }
}

TEST(states_of_other_graphs, are_refused) {
  const Target &target = *hostTarget();
  const OpenedModel &one = LawModel::of(lawGraph("causal_attention"), target).opened,
                    &other = LawModel::of(lawGraph("causal_self_attention"), target).opened;
  Stream stream(one);
  std::string before = stream.stateBytes();
  EXPECT_EQ(stream.load(Stream(other).save()), BURIN_STATE_FOREIGN) << rerunCommand();
  EXPECT_TRUE(stream.stateBytes() == before) << "the state has changed\nrerun: " << rerunCommand();
}
