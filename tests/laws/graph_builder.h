// What the graphs of the laws are declared with: inputs, outputs and parameters that number themselves.
#pragma once

#include "dsl/layers.h"
#include "law_graphs.h"

namespace burin::laws {

/// Every graph is a model of the same name, so that kernels that are equal are compiled once.
struct Builder {
  Graph graph{"law"};
  TimeAxis time = graph.time("time", {.max = longest});
  int inputs = 0, outputs = 0, parameters = 0;

  /// A second sequence.
  TimeAxis context() { return graph.time("context", {.max = longest}); }
  Tensor input(int64_t features) { return input(time, features); }
  Tensor input(TimeAxis axis, int64_t features) {
    return graph.input("x" + std::to_string(inputs++), {axis, features});
  }
  /// What opens a gate.
  Tensor signal() { return graph.input("signal", {time, 1}); }
  void output(Tensor value) { graph.output("y" + std::to_string(outputs++), value); }
  std::string unique(const std::string &name) { return name + std::to_string(parameters++); }

  Tensor project(Tensor x, int64_t features, bool bias = true, Layout layout = Layout::in_out) {
    std::vector<int64_t> shape{x.features(), features};
    if (layout == Layout::out_in)
      std::swap(shape[0], shape[1]);
    Tensor weight = parameter(graph, unique("W"), shape, Init::normal);
    return dense(x, weight, bias ? parameter(graph, unique("b"), {features}, Init::zeros) : Tensor(), layout);
  }
  Tensor norm(Tensor x, double eps = 1e-5) {
    Tensor gamma = parameter(graph, unique("gamma"), {x.features()}, Init::ones);
    return layer_norm(x, gamma, parameter(graph, unique("beta"), {x.features()}, Init::zeros), eps);
  }
  Tensor weight(int64_t rows, int64_t features) {
    return parameter(graph, unique("table"), {rows, features}, Init::normal);
  }
  /// q, k and v of their own; d_v is not d_k.
  void attend(TimeAxis queries, TimeAxis keys, int64_t d_k, int64_t d_v, AttentionOptions options) {
    Tensor q = input(queries, d_k), k = input(keys, d_k), v = input(keys, d_v);
    output(attention(q, k, v, options));
  }
  void attendAtOddWidths(TimeAxis queries, TimeAxis keys, AttentionOptions options) {
    const int64_t sizes[][3] = {{1, 1, 3}, {1, 33, 5}, {2, 10, 48}, {3, 33, 3}, {3, 48, 33}}; // heads, d_k, d_v
    for (auto [heads, d_k, d_v] : sizes) {
      options.heads = heads;
      attend(queries, keys, d_k, d_v, options);
    }
  }
  Graph take() { return std::move(graph); }
};

} // namespace burin::laws
