// Inputs from a seed for the entry points that a bench calls: normal numbers, ids that are in their table, masks that
// allow everything.
#pragma once

#include "runtime/burin_plan.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace burin {

class BenchInputs {
public:
  /// `rows` has the number of rows for each time symbol, of all sequences together.
  BenchInputs(const burin_plan_entry &entry, llvm::ArrayRef<int64_t> rows, int64_t sequences = 1);

  /// One pointer per input, in the plan's order, to the row where a sequence begins. Only inputs without a mask can
  /// begin elsewhere than at 0.
  std::vector<const void *> from(int64_t row, int64_t sequence = 0) const;

private:
  const burin_plan_entry &entry_;
  std::vector<std::vector<char>> bytes_; // of the allocator, hence aligned for every element type
};

/// What people call the rows of an input: ids are tokens of texts, everything else rows of sequences.
struct RowWords {
  const char *sequence, *row;
};
RowWords rowWordsOf(const burin_plan_entry &entry);

} // namespace burin
