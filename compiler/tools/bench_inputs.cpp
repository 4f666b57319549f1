#include "tools/bench_inputs.h"
#include "tools/initial_values.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace burin {

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

InputValues benchInputs(const burin_plan_entry &forward, llvm::ArrayRef<int64_t> rows) {
  InputValues values;
  for (const burin_plan_tensor &input : llvm::ArrayRef(forward.inputs, forward.input_count)) {
    int64_t count = rows[input.row_axis] * (input.column_axis >= 0 ? rows[input.column_axis] : input.columns);
    if (input.type == BURIN_U8)
      values.add(input.name, 0, std::vector<char>(count, char(1)));
    else if (input.type == BURIN_I32)
      values.add(input.name, int64_t(sizeof(int32_t)), asBytes(randomIds(count, input)));
    else
      values.add(input.name, input.columns * int64_t(sizeof(float)), asBytes(normalValues(count, 0, input.name)));
  }
  return values;
}

RowWords rowWordsOf(const burin_plan_entry &entry) {
  for (const burin_plan_tensor &input : llvm::ArrayRef(entry.inputs, entry.input_count))
    if (input.type == BURIN_I32)
      return {"text", "token"};
  return {"sequence", "row"};
}

} // namespace burin
