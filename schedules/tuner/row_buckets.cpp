#include "schedules/tuner/row_buckets.h"

namespace burin {

int bucketOf(int64_t rows) {
  int bucket = 0;
  while (rows > mostRowsOf(bucket))
    ++bucket;
  return bucket;
}

int64_t mostRowsOf(int bucket) { return bucket + 1 == rowBuckets ? INT64_MAX : int64_t(1) << (2 * bucket); }

int64_t leastRowsOf(int bucket) { return bucket == 0 ? 1 : mostRowsOf(bucket - 1) + 1; }

std::string bucketText(int bucket) {
  if (bucket == anyRows)
    return "any";
  std::string least = std::to_string(leastRowsOf(bucket));
  return bucket == 0                ? least
         : bucket + 1 == rowBuckets ? least + "-"
                                    : least + "-" + std::to_string(mostRowsOf(bucket));
}

std::optional<int> bucketNamed(llvm::StringRef text) {
  for (int bucket = anyRows; bucket < rowBuckets; ++bucket)
    if (text == bucketText(bucket))
      return bucket;
  return std::nullopt;
}

} // namespace burin
