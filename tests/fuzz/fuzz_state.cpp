// Saved states: as they come, as changes of a good one, and with a hash that is right. What loads is a state like any
// other: it is read, goes on by a step, and saves; what does not load changes nothing.
#include "stream_plans.h"
extern "C" {
#include "hash.h"
}

#include <algorithm>

using namespace burin_test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1)
    return 0;
  static Streams streams(two_streams(4));
  static const std::vector<unsigned char> good = [] {
    if (streams.reset(7) != BURIN_OK || streams.append({1, 2, 3, 4}) != BURIN_OK || streams.step(1, 2) != BURIN_OK ||
        streams.advance({1, 2, 3, 4, 5, 6, 7, 8}) != BURIN_OK)
      std::abort();
    return streams.save();
  }();
  std::vector<unsigned char> saved(data + 1, data + size);
  if (data[0] & 2) { // what is given is a difference; what it is shorter or longer by as well
    saved.resize(std::max<size_t>(good.size() + saved.size() % 3, 1) - 1);
    for (size_t i = 0; i < saved.size(); ++i)
      saved[i] = (unsigned char)((i + 1 < size ? data[i + 1] : 0) ^ (i < good.size() ? good[i] : 0));
  }
  if ((data[0] & 1) && saved.size() >= 8) {
    uint64_t hash = burin_hash(saved.data(), saved.size() - 8, 0);
    std::memcpy(saved.data() + saved.size() - 8, &hash, 8);
  }
  if (streams.reset() != BURIN_OK)
    std::abort();
  std::vector<unsigned char> before = streams.state.copy();
  if (streams.load(saved) != BURIN_OK) {
    if (streams.state.copy() != before)
      std::abort();
    return 0;
  }
  for (const char *name : {"ring", "contexts", "total"})
    streams.read(name);
  if (streams.save() != saved)
    std::abort();
  streams.step(1, 2);
  streams.advance({1, 2, 3, 4});
  streams.append({1, 2});
  streams.save();
  return 0;
}
