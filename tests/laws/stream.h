// Streams of a model: a state, and calls that go on from it, on memory that the test owns.
//
// A stream is numbered as in the plan: 0 is the one that `step` takes, the others are contexts. What is fed comes from
// a whole Sequence, whose inputs are found by name.
#pragma once

#include "compiled_graph.h"

namespace burin::laws {

class Stream {
public:
  /// Memory for up to `most` rows of each stream at once, and scratch for as many, or for `scratchRows`.
  explicit Stream(const OpenedModel &model, int64_t most = 1, Placement placement = Placement::anywhere,
                  int64_t scratchRows = 0);
  /// Another stream that goes on from where `other` is: its state's bytes, and memory of its own. Where the state is on
  /// a device, its bytes are not all of it: calls of the other are refused.
  Stream(const Stream &other, int64_t most);

  burin_status reset(int64_t position = 0);
  /// Copies rows [first, first + count) of the sequence to where the calls read.
  void feed(const Sequence &sequence, int64_t first, int64_t count = 1, int stream = 0);
  burin_status step();
  burin_status advance(int64_t count, int stream = 0);
  /// What the last call of stream 0 wrote: its outputs for `count` rows.
  Outputs results(int64_t count = 1) const;
  burin_status read(const std::string &name, std::vector<float> &values, int64_t &rows) const;
  burin_status save(std::vector<char> &saved, size_t &bytes) const;
  burin_status load(llvm::ArrayRef<char> saved);
  /// Whether a stream that began at 0 takes one more row: a cache or a table may end.
  bool hasRoom(int stream = 0) const;
  int64_t position(int stream = 0) const { return burin_state_stream_position(state_.as(), stream); }
  const Buffer &state() const { return state_; }
  std::string stateBytes() const;
  std::vector<const Buffer *> buffers() const;

  // The same, in one word; throws where a status is not BURIN_OK.
  Outputs step(const Sequence &sequence, int64_t row);
  Outputs advance(const Sequence &sequence, int64_t first, int64_t count);
  void append(int stream, const Sequence &sequence, int64_t first, int64_t count);
  /// All rows of the sequence along every context.
  void appendContexts(const Sequence &sequence);
  /// A value of the state in plain row order.
  std::vector<float> read(const std::string &name) const;
  std::vector<char> save() const;

private:
  /// Where the rows of one stream come from.
  struct Rows {
    std::vector<Buffer> inputs;
    std::vector<const void *> pointers;
  };

  const OpenedModel &model_;
  int64_t most_;
  Buffer state_, scratch_;
  std::vector<Rows> rows_; // of each stream
  std::vector<Buffer> outputs_;
  std::vector<void *> outputPointers_;
};

} // namespace burin::laws
