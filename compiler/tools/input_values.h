// Values of a graph's inputs by name, and pointers to them in the order in which an entry point takes them. Entries of
// streams take some of the inputs of `forward`, a row or some rows at a time.
#pragma once

#include "runtime/burin_plan.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace burin {

class InputValues {
public:
  /// All rows of an input; masks, which nothing begins in the middle of, have 0 bytes a row.
  void add(llvm::StringRef name, int64_t bytesPerRow, std::vector<char> values) {
    inputs_[name] = {bytesPerRow, std::move(values)};
  }

  /// One pointer per input of the entry, to row `first` of it.
  std::vector<const void *> of(const burin_plan_entry &entry, int64_t first = 0) const {
    std::vector<const void *> pointers;
    for (int32_t input = 0; input < entry.input_count; ++input) {
      const Values &values = inputs_.find(entry.inputs[input].name)->second;
      pointers.push_back(values.bytes.data() + first * values.bytesPerRow);
    }
    return pointers;
  }

private:
  struct Values {
    int64_t bytesPerRow;
    std::vector<char> bytes; // of the allocator, hence aligned for every element type
  };
  llvm::StringMap<Values> inputs_;
};

} // namespace burin
