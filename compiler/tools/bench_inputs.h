// Inputs from a seed for the entry points that a bench calls: normal numbers, ids that are in their table, masks that
// allow everything.
#pragma once

#include "tools/input_values.h"
#include "llvm/ADT/ArrayRef.h"

namespace burin {

/// For `forward`, and for the streams, which take some of its inputs; `rows` has the number of rows for each time
/// symbol, of all sequences together.
InputValues benchInputs(const burin_plan_entry &forward, llvm::ArrayRef<int64_t> rows);

/// What people call the rows of an input: ids are tokens of texts, everything else rows of sequences.
struct RowWords {
  const char *sequence, *row;
};
RowWords rowWordsOf(const burin_plan_entry &entry);

} // namespace burin
