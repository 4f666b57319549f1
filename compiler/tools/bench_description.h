// bench.json: what `burin bench FOLDER` measures, so that an example says it once.
//
//   {"model": "../models/all-MiniLM-L6-v2", "times": [8, 32], "mixed": 64, "start_up": true}
//
// `model` is a graph as any command takes it, relative to the folder; a `*` in a component of the path stands for what
// is there. The others are the options of the command of the same name, and may be left out.
#pragma once

#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace burin {

struct BenchDescription {
  std::string model; // a path that exists
  std::vector<int64_t> times;
  int64_t mixed = 0;
  bool startUp = false;
};

/// Nothing if `folder` is not one, or holds no bench.json.
llvm::Expected<std::optional<BenchDescription>> readBenchDescription(llvm::StringRef folder);

} // namespace burin
