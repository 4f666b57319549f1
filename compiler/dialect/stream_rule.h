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
    LookBack,  // row t needs rows 0…t: they are kept in state under `name`
    Running,   // the result is finish(combine over the rows so far): the partial result is kept under `name`
    Counter,   // the operand counts rows; in a step the state's position stands there
    Refused    // row t needs what a stream does not have yet: `reason` and `fix` say why and what to do
  };

  Kind kind = Kind::Pointwise;
  std::string name = {};     // LookBack, Running: of the state value, below the op's scope
  bool keys = false;         // LookBack: kept in the layout in which the target reads keys
  std::string combine = {};  // Running: "add", "first"
  std::string finish = {};   // Running: "divide_by_count", "none"
  std::string reason = {}, fix = {}; // Refused

  static StreamRule pointwise() { return {}; }
  static StreamRule counter() { return {.kind = Kind::Counter}; }
  static StreamRule lookBack(llvm::StringRef name, bool keys) {
    return {.kind = Kind::LookBack, .name = name.str(), .keys = keys};
  }
  static StreamRule running(llvm::StringRef name, llvm::StringRef combine, llvm::StringRef finish) {
    return {.kind = Kind::Running, .name = name.str(), .combine = combine.str(), .finish = finish.str()};
  }
  static StreamRule refused(llvm::StringRef reason, llvm::StringRef fix) {
    return {.kind = Kind::Refused, .reason = reason.str(), .fix = fix.str()};
  }
};

} // namespace burin
