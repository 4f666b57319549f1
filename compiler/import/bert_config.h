// The configuration files of a BERT-family directory, read and checked.
#pragma once

#include "dsl/layers.h"
#include "llvm/Support/Error.h"

namespace burin {

/// What follows the encoder.
struct SentenceModules {
  enum Pooling { none, mean, first } pooling = none;
  bool normalize = false;
  std::string encoderFolder; // of config.json and model.safetensors, below the directory; empty: the directory itself
};

/// config.json. An entry that changes what the model computes and is not supported, or that is not known, is an error
/// that names it.
llvm::Expected<BertEncoderOptions> readBertConfig(llvm::StringRef path, const std::vector<std::string> &ignored);

/// modules.json and what it names; without that file, nothing follows the encoder.
llvm::Expected<SentenceModules> readSentenceModules(llvm::StringRef folder);

} // namespace burin
