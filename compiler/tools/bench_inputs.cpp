#include "tools/bench_inputs.h"
#include "tools/initial_values.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace burin {

static size_t bytesOfElement(const burin_plan_tensor &input) { return input.type == BURIN_U8 ? 1 : sizeof(float); }

template <typename T> static std::vector<char> asBytes(const std::vector<T> &values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  if (!bytes.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

static std::vector<int32_t> randomIds(int64_t count, const burin_plan_tensor &input) {
  RandomStream stream(0, input.name);
  std::vector<int32_t> ids(count);
  for (int32_t &id : ids)
    id = int32_t(stream.next() % uint64_t(std::max(input.limit, 1)));
  return ids;
}

BenchInputs::BenchInputs(const burin_plan_entry &entry, llvm::ArrayRef<int64_t> rows, int64_t sequences)
    : entry_(entry) {
  for (const burin_plan_tensor &input : llvm::ArrayRef(entry.inputs, entry.input_count)) {
    int64_t rowCount = input.row_axis >= 0                     ? rows[input.row_axis]
                       : input.row_axis == BURIN_AXIS_SEQUENCE ? sequences
                                                               : 1;
    int64_t count = rowCount * (input.column_axis >= 0 ? rows[input.column_axis] : input.columns);
    if (input.type == BURIN_U8)
      bytes_.emplace_back(count, char(1));
    else if (input.type == BURIN_I32)
      bytes_.push_back(asBytes(randomIds(count, input)));
    else
      bytes_.push_back(asBytes(normalValues(count, 0, input.name)));
  }
}

std::vector<const void *> BenchInputs::from(int64_t row, int64_t sequence) const {
  std::vector<const void *> pointers;
  for (auto [index, bytes] : llvm::enumerate(bytes_)) {
    const burin_plan_tensor &input = entry_.inputs[index];
    int64_t first = input.row_axis >= 0 ? row : input.row_axis == BURIN_AXIS_SEQUENCE ? sequence : 0;
    pointers.push_back(bytes.data() + first * input.columns * int64_t(bytesOfElement(input)));
  }
  return pointers;
}

RowWords rowWordsOf(const burin_plan_entry &entry) {
  for (const burin_plan_tensor &input : llvm::ArrayRef(entry.inputs, entry.input_count))
    if (input.type == BURIN_I32)
      return {"text", "token"};
  return {"sequence", "row"};
}

} // namespace burin
