// A graph that is nearly a chain, drawn as people read one: boxes from top to bottom, and the edges that are not from a
// box to the next in lanes at their left.
//
// Boxes are HTML at places that are computed here, the lanes one SVG under them; so text keeps its size on any screen,
// and a narrow one needs nothing but narrower boxes. Rejected: a layered layout in two dimensions. Queries, keys and
// values side by side do not fit a phone, and all else in an encoder is a chain with residuals.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace burin {

struct FlowBox {
  std::string html;          // an element of class `box` with `@` where its style goes
  int lines = 1;             // of text
  std::string scope;         // where it stands: "block0.attn"
  std::string block;         // boxes of one block, one after another, are framed; empty: none
  std::string kind;          // boxes that show equal things, apart from where they stand, have the same
  std::vector<size_t> reads; // numbers of boxes before this one
};

struct FlowChart {
  std::string html;
  bool isFolded = false; // something is shown once that stands there several times
};

/// With `fold`, equal blocks that follow one another are drawn once.
FlowChart drawFlow(const std::vector<FlowBox> &boxes, bool fold);

/// What a name of a repeated thing has in common with the others: digits become `#`.
std::string withoutDigits(const std::string &name);

/// Repeated things, by the names of the first and the last: "block0…5.k_cache".
std::string nameRange(llvm::StringRef first, llvm::StringRef last);

} // namespace burin
