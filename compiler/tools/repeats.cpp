#include "tools/repeats.h"

namespace burin {

std::vector<Repeat> findRepeats(size_t count, size_t shortest, llvm::function_ref<bool(size_t, size_t)> alike) {
  std::vector<Repeat> repeats;
  for (size_t first = 0; first < count;) {
    // The most elements; of several ways to see them, the shortest unit.
    Repeat best{first, 1, 1};
    for (size_t length = shortest; first + 2 * length <= count; ++length) {
      size_t same = 0;
      while (first + same + length < count && alike(first + same, first + same + length))
        ++same;
      size_t times = same / length + 1;
      if (times > 1 && times * length > best.times * best.length)
        best = {first, length, times};
    }
    if (best.times > 1)
      repeats.push_back(best);
    first += best.length * best.times;
  }
  return repeats;
}

} // namespace burin
