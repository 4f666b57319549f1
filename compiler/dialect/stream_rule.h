// How an op sees time through one operand: what `derive_step` needs to know, as data.
//
// Rejected: a virtual `deriveStep` per op. It would let every room write its own step, and the law that `step` is
// derived would hold only by discipline.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace burin {

struct StreamRule {
  enum class Kind {
    Pointwise, // row t of the result needs row t of this operand
    LookBack,  // row t needs rows 0…t, or the last `window` of them: they are kept in state under `name`
    Running,   // the result is finish(combine over the rows so far): the partial result is kept under `name`
    Counter,   // the operand counts rows; in a step the stream's position stands there
    Refused    // row t needs what a stream does not have yet: `reason` and `fix` say why and what to do
  };

  Kind kind = Kind::Pointwise;
  std::string name = {};             // LookBack, Running: of the state value, below the op's scope
  bool keys = false;                 // LookBack: kept in the layout in which the target reads keys
  int64_t window = 0;                // LookBack: how many last rows; 0: all
  int64_t end = 0;                   // Counter: positions must stay below this; 0: it has no end
  std::string combine = {};          // Running: "add", "first"
  std::string finish = {};           // Running: "divide_by_count", "none"
  std::string reason = {}, fix = {}; // Refused

  static StreamRule pointwise() { return {}; }
  static StreamRule counter(int64_t end = 0) { return {.kind = Kind::Counter, .end = end}; }
  static StreamRule lookBack(llvm::StringRef name, bool keys, int64_t window = 0) {
    return {.kind = Kind::LookBack, .name = name.str(), .keys = keys, .window = window};
  }
  static StreamRule running(llvm::StringRef name, llvm::StringRef combine, llvm::StringRef finish) {
    return {.kind = Kind::Running, .name = name.str(), .combine = combine.str(), .finish = finish.str()};
  }
  static StreamRule refused(llvm::StringRef reason, llvm::StringRef fix) {
    return {.kind = Kind::Refused, .reason = reason.str(), .fix = fix.str()};
  }
};

} // namespace burin
