// A graph as it was declared: what it asks for, random values for it, and its reference.
#pragma once

#include "dialect/host_tensor.h"
#include "dialect/precision.h"
#include "dsl/graph_module.h"
#include "tools/graph_signature.h"
#include <map>

namespace burin::laws {

/// Values of the parameters, by name.
using Weights = std::map<std::string, std::vector<float>>;

/// An input of one sequence: rows of floats, a mask, or ids.
struct InputValues {
  std::vector<float> floats;
  std::vector<uint8_t> mask;
  std::vector<int32_t> ids;

  InputValues() = default;
  InputValues(std::vector<float> values) : floats(std::move(values)) {}
  InputValues(std::vector<uint8_t> values) : mask(std::move(values)) {}
  InputValues(std::vector<int32_t> values) : ids(std::move(values)) {}
  InputValues(std::initializer_list<float> values) : floats(values) {}

  const void *data() const {
    if (!ids.empty())
      return ids.data();
    return mask.empty() ? static_cast<const void *>(floats.data()) : mask.data();
  }
  size_t bytes() const { return floats.size() * sizeof(float) + mask.size() + ids.size() * sizeof(int32_t); }
};

/// One sequence: its length along each time symbol, in the order of GraphSignature::axes, and its inputs in order.
struct Sequence {
  std::vector<int64_t> rows;
  std::vector<InputValues> inputs;
};

class DeclaredGraph {
public:
  /// Throws, with all errors, when the graph has any.
  explicit DeclaredGraph(Graph graph, Precision precision = Precision::Float32);

  const GraphSignature &signature() const { return signature_; }
  int64_t rowsOf(const std::string &symbol, const Sequence &sequence) const;
  /// A copy of the module for passes to take apart.
  mlir::OwningOpRef<mlir::ModuleOp> module() const { return graph_.module.get().clone(); }

  /// `forward` by what the ops' rooms say that they mean, in double precision: a tensor for each output.
  std::vector<HostTensor> evaluate(const Weights &weights, const Sequence &sequence) const;

  /// The bytes of a weights file.
  std::string fileOf(const Weights &weights) const;

  /// As `burin init` makes them, but no bias is 0 and no scale is 1: what multiplies or adds wrongly shall show.
  Weights randomWeights(uint64_t seed) const;
  Sequence randomSequence(llvm::ArrayRef<int64_t> rows, uint64_t seed) const;
  /// Rows [first, first + count) of every input along an axis, and all rows of the others. The sequence has no mask.
  Sequence part(const Sequence &sequence, int64_t first, int64_t count, int64_t axis = 0) const;

private:
  GraphModule graph_;
  GraphSignature signature_;
};

} // namespace burin::laws
