// No byte outside the caller's buffers is read or written: they end where memory does, and then begin there.
#include "law_graphs.h"

using namespace burin;
using namespace burin::laws;

BURIN_LAW(no_access_outside_buffers, [](const LawGraph &) { return true; });
BURIN_LAW(no_access_outside_buffers_of_streams, [](const LawGraph &graph) { return graph.streams; });

static const std::pair<Placement, const char *> placements[] = {{Placement::beforeGuard, "buffers before a guard page"},
                                                                {Placement::afterGuard, "buffers after a guard page"}};

/// Runs `call`, and fails the test where it goes wrong or leaves the buffers.
static bool staysInside(const Case &test, llvm::function_ref<burin_status()> call,
                        const std::vector<const Buffer *> &buffers) {
  burin_status status = BURIN_OK;
  if (std::string fault = faultIn([&] { status = call(); }, buffers); !fault.empty()) {
    fail(test, "touched " + fault);
    return false;
  }
  if (status != BURIN_OK) {
    fail(test, burin_status_text(status));
    return false;
  }
  for (const Buffer *buffer : buffers)
    if (!buffer->gapIsUntouched()) {
      fail(test, "wrote outside " + buffer->name());
      return false;
    }
  return true;
}

static std::string text(llvm::ArrayRef<int64_t> lengths) {
  std::string text;
  for (int64_t length : lengths)
    text += (text.empty() ? "" : " by ") + std::to_string(length);
  return text;
}

TEST_P(no_access_outside_buffers, in_forward) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  for (auto [placement, description] : placements)
    for (const std::vector<int64_t> &lengths : oddLengths(signature())) {
      ForwardCall call(opened(), model().graph.randomSequence(lengths, 110), placement);
      Case test = place("forward on " + text(lengths) + " rows, " + description, 110);
      if (!staysInside(
              test, [&] { return call.run(); }, call.buffers()))
        return;
    }
}

TEST_P(no_access_outside_buffers, in_forward_batch) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  std::vector<Sequence> sequences;
  for (int64_t length : {5, 3, 1, 0, 17})
    sequences.push_back(model().graph.randomSequence(std::vector<int64_t>(signature().axes.size(), length), 111));
  for (auto [placement, description] : placements) {
    ForwardCall call(opened(), sequences, placement);
    Case test = place(std::string("forward_batch, ") + description, 111);
    if (!staysInside(
            test, [&] { return call.runBatch(); }, call.buffers()))
      return;
  }
}

TEST_P(no_access_outside_buffers_of_streams, in_step) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  const int64_t samples = longest + 2; // one more than a ring of a small window holds
  Sequence sequence = randomSequence(samples, 112);
  for (auto [placement, description] : placements) {
    Stream stream(opened(), 1, placement);
    for (int64_t row = 0; row < samples; ++row)
      for (int number = opened().plan().stream_count - 1; number >= 0; --number) { // contexts first
        if (!stream.hasRoom(number))
          continue;
        stream.feed(sequence, row, 1, number);
        Case test = place((number ? "append " : "step ") + std::to_string(row + 1) + ", " + description, 112);
        if (!staysInside(
                test, [&] { return number ? stream.advance(1, number) : stream.step(); }, stream.buffers()))
          return;
      }
  }
}

TEST_P(no_access_outside_buffers_of_streams, in_advance) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  Sequence sequence = randomSequence(longest, 113);
  for (int64_t most : {2, 7, 70})
    for (auto [placement, description] : placements) {
      Stream stream(opened(), most, placement);
      for (int64_t row = 0, count; row < longest; row += count) {
        count = std::min(most, longest - row);
        for (int number = opened().plan().stream_count - 1; number >= 0; --number) {
          stream.feed(sequence, row, count, number);
          Case test = place((number ? "append of " : "advance by ") + std::to_string(count) + " rows from " +
                                std::to_string(row) + " on, " + description,
                            113);
          if (!staysInside(
                  test, [&] { return stream.advance(count, number); }, stream.buffers()))
            return;
        }
      }
    }
}

TEST_P(no_access_outside_buffers_of_streams, when_a_state_is_saved_and_loaded) {
  SKIP_UNLESS_IN_THIS_PROCESS();
  Sequence sequence = randomSequence(40, 114);
  for (auto [placement, description] : placements) {
    Stream stream(opened(), 40, placement);
    stream.appendContexts(sequence);
    stream.advance(sequence, 0, 40);
    Buffer saved("the saved state", stream.save().size(), 1, placement);
    std::vector<const Buffer *> buffers{&stream.state(), &saved};
    size_t bytes = 0;
    Case test = place(std::string("state_save, ") + description, 114);
    if (!staysInside(
            test, [&] { return opened().calls().stateSave(stream.state().as(), saved.as(), saved.bytes(), &bytes); },
            buffers))
      return;
    test.entry = std::string("state_load, ") + description;
    if (!staysInside(
            test,
            [&] {
              return stream.load({saved.as<char>(), saved.bytes()});
            },
            buffers))
      return;
  }
}
