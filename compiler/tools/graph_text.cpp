#include "tools/graph_text.h"
#include "tools/graph_signature.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

std::string textOf(mlir::ModuleOp module) {
  std::string text, names;
  llvm::raw_string_ostream(text) << module << "\n";
  for (const Axis &axis : signatureOf(module).axes) {
    std::string encoding = "#encoder.rows<\"" + axis.name + "\", " + std::to_string(axis.maximum) + ">";
    names += "#" + axis.name + " = " + encoding + "\n";
    for (size_t at = 0; (at = text.find(encoding, at)) != std::string::npos;)
      text.replace(at, encoding.size(), "#" + axis.name);
  }
  return names + text;
}

} // namespace burin
