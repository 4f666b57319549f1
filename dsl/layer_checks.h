// What layers check of their options and operands.
//
// A layer checks its options first, so that they are reported even where x is null already; then it stops at a null x;
// then it checks x, and builds. A check takes x and returns it, or the null tensor that its report gave.
#pragma once

#include "dsl/encoder.h"
#include <initializer_list>

namespace burin {

struct NamedSize {
  const char *name;
  int64_t value;
};

Tensor requirePositive(Tensor x, Where where, const std::string &layer, std::initializer_list<NamedSize> sizes);

/// The heads divide d_model; sizes below 1 are left to requirePositive.
Tensor requireHeads(Tensor x, Where where, const std::string &layer, int64_t heads, int64_t d_model);

/// A window is at least 1, and of a layer that is causal.
Tensor requireWindow(Tensor x, Where where, const std::string &layer, std::optional<int64_t> window, bool causal);

/// `x`, which messages call `name`, has d_model features.
Tensor requireWidth(Tensor x, Where where, const std::string &layer, const std::string &name, int64_t d_model);

/// x lies along time, and no sequence of it is longer than `max_len`.
Tensor requireLength(Tensor x, Where where, const std::string &layer, std::optional<int64_t> max_len);

} // namespace burin
