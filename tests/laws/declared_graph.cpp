#include "declared_graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/evaluate_graph.h"
#include "tools/initial_values.h"
#include <stdexcept>

namespace burin::laws {

template <typename T> static T valueOf(llvm::Expected<T> result) {
  if (!result)
    throw std::runtime_error(llvm::toString(result.takeError()));
  return std::move(*result);
}

static GraphModule moduleOf(Graph graph) {
  std::string errors;
  for (const GraphError &error : graph.errors())
    errors += error.text() + "\n";
  std::optional<GraphModule> module = takeModule(std::move(graph));
  if (!module)
    throw std::runtime_error(errors);
  return std::move(*module);
}

DeclaredGraph::DeclaredGraph(Graph graph, Precision precision)
    : graph_(moduleOf(std::move(graph))), signature_(signatureOf(graph_.module.get())) {
  setPrecision(graph_.module.get(), precision);
}

int64_t DeclaredGraph::rowsOf(const std::string &symbol, const Sequence &sequence) const {
  for (size_t axis = 0; axis < signature_.axes.size(); ++axis)
    if (signature_.axes[axis].name == symbol)
      return sequence.rows[axis];
  return 1;
}

std::vector<HostTensor> DeclaredGraph::evaluate(const Weights &weights, const Sequence &sequence) const {
  ReferenceInputs given;
  for (const GraphParameter &parameter : signature_.parameters) {
    HostTensor value(parameter.shape);
    const std::vector<float> &floats = weights.at(parameter.name);
    value.values().assign(floats.begin(), floats.end());
    given.parameters[parameter.name] = value;
  }
  for (size_t i = 0; i < signature_.inputs.size(); ++i) {
    const EntryTensor &tensor = signature_.inputs[i];
    const InputValues &input = sequence.inputs[i];
    HostTensor value({rowsOf(tensor.rows, sequence),
                      tensor.columnsBy.empty() ? tensor.columns : rowsOf(tensor.columnsBy, sequence)});
    if (tensor.type == ElementType::U8)
      value.values().assign(input.mask.begin(), input.mask.end());
    else if (tensor.type == ElementType::I32)
      value.values().assign(input.ids.begin(), input.ids.end());
    else
      value.values().assign(input.floats.begin(), input.floats.end());
    given.inputs[tensor.name] = value;
  }
  for (size_t axis = 0; axis < signature_.axes.size(); ++axis)
    given.rows[signature_.axes[axis].name] = sequence.rows[axis];
  auto forward = graph_.module.get().lookupSymbol<mlir::func::FuncOp>("forward");
  llvm::SmallVector<HostTensor> results = valueOf(evaluateGraph(forward, given));
  return {results.begin(), results.end()};
}

std::string DeclaredGraph::fileOf(const Weights &weights) const {
  SafetensorsWriter writer;
  for (const GraphParameter &parameter : signature_.parameters)
    writer.add(parameter.name, parameter.shape, weights.at(parameter.name));
  return writer.bytes();
}

Weights DeclaredGraph::randomWeights(uint64_t seed) const {
  Weights weights;
  for (const GraphParameter &parameter : signature_.parameters) {
    std::vector<float> values = valueOf(initialValues(parameter, seed));
    if (parameter.init != "normal") {
      std::vector<float> noise = normalValues(int64_t(values.size()), seed, parameter.name);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] += 0.5f * noise[i];
    }
    weights[parameter.name] = std::move(values);
  }
  return weights;
}

Sequence DeclaredGraph::randomSequence(llvm::ArrayRef<int64_t> rows, uint64_t seed) const {
  Sequence sequence{rows.vec(), {}};
  for (const EntryTensor &tensor : signature_.inputs) {
    int64_t columns = tensor.columnsBy.empty() ? tensor.columns : rowsOf(tensor.columnsBy, sequence);
    std::vector<float> values = normalValues(rowsOf(tensor.rows, sequence) * columns, seed, tensor.name);
    InputValues input(values);
    if (tensor.type == ElementType::U8) { // two keys of three are allowed
      input = InputValues();
      for (float value : values)
        input.mask.push_back(value < 0.43f);
    }
    if (tensor.type == ElementType::I32) {
      input = InputValues();
      RandomStream stream(seed, tensor.name);
      for (size_t row = 0; row < values.size(); ++row)
        input.ids.push_back(int32_t(stream.next() % uint64_t(tensor.limit)));
    }
    sequence.inputs.push_back(std::move(input));
  }
  return sequence;
}

Sequence DeclaredGraph::part(const Sequence &sequence, int64_t first, int64_t count, int64_t axis) const {
  Sequence part = sequence;
  part.rows[axis] = count;
  for (size_t i = 0; i < signature_.inputs.size(); ++i) {
    const EntryTensor &tensor = signature_.inputs[i];
    if (tensor.rows != signature_.axes[axis].name)
      continue;
    auto take = [&](auto &values) {
      if (!values.empty())
        values = {values.begin() + first * tensor.columns, values.begin() + (first + count) * tensor.columns};
    };
    take(part.inputs[i].floats);
    take(part.inputs[i].ids);
  }
  return part;
}

} // namespace burin::laws
