// From a directory of a BERT-family model, as transformers and sentence-transformers save it, to a graph.
//
//   config.json               sizes, activation, eps
//   model.safetensors         names and shapes of the parameters; their values stay in the file
//   modules.json              where it exists: what follows the encoder, in order
//   <pooling module>/config.json
//
// An importer that passes over what it does not know gives another model than the one that was trained. So every entry
// of a configuration is either used, or known to say nothing about inference, or an error that names it.
#pragma once

#include "dsl/encoder.h"
#include "llvm/Support/Error.h"

namespace burin {

struct BertImportOptions {
  std::string name;                 // of the model, a C identifier; empty: made from the folder's name
  std::vector<std::string> ignored; // entries of config.json that are passed over although they are not known
};

struct ImportedBert {
  Graph graph;
  std::vector<std::string> leftAside; // tensors of the file that the graph does not read
};

/// The graph takes `ids` [time, 1] and gives `y`: rows of the encoder, or where modules.json pools them, a row per
/// sequence. Its parameters have the file's own names.
llvm::Expected<ImportedBert> importBert(llvm::StringRef folder, const BertImportOptions &options = {});

} // namespace burin
