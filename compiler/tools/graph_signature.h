// What a graph asks of those who use it: time symbols, inputs, outputs and parameters, read from `forward` before the
// passes take it apart. Commands check files against this, and never look at ops.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "tools/safetensors_file.h"

namespace burin {

struct Axis {
  std::string name;
  int64_t maximum; // rows in one sequence
};

/// An input or output of `forward`.
struct EntryTensor {
  std::string name;
  ElementType type = ElementType::F32;
  std::string rows; // the time symbol that the rows count; empty: each sequence has `rowsEach`
  int64_t rowsEach = 1;
  std::string columnsBy; // masks: the symbol that the columns count; empty: `columns`
  int64_t columns = 0;
  int64_t limit = 0; // ids: at least 0 and below this
};

/// A trained tensor; a schedule's parameters are another matter.
struct GraphParameter {
  std::string name;
  std::vector<int64_t> shape;
  std::string init; // how `burin init` fills it
};

struct GraphSignature {
  std::vector<Axis> axes;
  std::vector<EntryTensor> inputs, outputs;
  std::vector<GraphParameter> parameters;

  const Axis *findAxis(llvm::StringRef name) const;
  /// The symbol whose rows a step would take: the only one, or the one that the outputs' rows count. Null where neither
  /// says it.
  const Axis *streamAxis() const;
  /// The other symbol of a graph with two; null for any other graph.
  const Axis *contextAxis() const;
};

/// Of a module that passed verify_graph.
GraphSignature signatureOf(mlir::ModuleOp module);

} // namespace burin
