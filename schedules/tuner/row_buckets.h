// Buckets of numbers of rows: what a kernel is tuned for, and by which a kernel with several schedules chooses.
//
// A register tile that is right for hundreds of rows does work for rows that are not there where there are two.
// Rejected: finer buckets. Every one costs a search and may cost code; within a factor of four the best schedules were
// the same, or nearly.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace burin {

/// 1, 2–4, 5–16, 17–64, 65–256, 257–1024, and all beyond.
inline constexpr int rowBuckets = 7;
/// In place of a bucket, of records that are of a whole graph, or of the machine.
inline constexpr int anyRows = -1;

/// Number of the bucket that holds `rows`.
int bucketOf(int64_t rows);
/// Most rows of a bucket; of the last, INT64_MAX.
int64_t mostRowsOf(int bucket);
int64_t leastRowsOf(int bucket);
/// "1", "2-4", …, "1025-"; "any".
std::string bucketText(int bucket);
std::optional<int> bucketNamed(llvm::StringRef text);

} // namespace burin
