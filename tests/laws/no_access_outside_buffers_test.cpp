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
  int64_t samples = signature().axes[0].maximum;
  Sequence sequence = model().graph.randomSequence({samples}, 112);
  for (auto [placement, description] : placements) {
    Stream stream(opened(), 1, placement);
    for (int64_t row = 0; row < samples; ++row) {
      stream.feed(sequence, row);
      Case test = place("step " + std::to_string(row + 1) + ", " + description, 112);
      if (!staysInside(
              test, [&] { return stream.step(); }, stream.buffers()))
        return;
    }
  }
}
