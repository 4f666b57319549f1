// Sequences of mixed lengths in one padding-free batch, and the same ones one by one: what packing rows is worth.
#pragma once

#include "tools/compiled_model.h"

namespace burin {

/// `count` sequences of 2 rows to half of the maximum, from a fixed seed, through forward_batch and through forward.
/// For graphs with one time symbol and no mask.
llvm::Error benchMixedBatch(CompiledModel &model, int64_t count, bool json, Progress &progress);

} // namespace burin
