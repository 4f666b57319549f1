// Graphs of ops, at odd widths.
#include "graph_builder.h"

namespace burin::laws {

namespace {

/// Inputs of less than an instruction's terms, of one group and of several.
Graph narrowWeightsGraph() {
  Builder b;
  b.output(b.project(b.input(1), 1));
  b.output(b.project(b.input(3), 5, false));
  b.output(b.project(b.input(33), 48, true, Layout::out_in));
  b.output(b.project(b.input(130), 35));
  b.output(b.project(b.input(400), 10, true, Layout::out_in));
  return b.take();
}

Graph denseGraph() {
  Builder b;
  b.output(b.project(b.input(1), 1));
  b.output(b.project(b.input(1), 33, true, Layout::out_in));
  b.output(b.project(b.input(3), 5, false));
  b.output(b.project(b.input(5), 3, false, Layout::out_in));
  b.output(b.project(b.input(10), 48));
  b.output(b.project(b.input(33), 10));
  b.output(b.project(b.input(48), 1));
  b.output(b.project(b.input(48), 33, true, Layout::out_in));
  return b.take();
}

Graph pointwiseGraph() {
  Builder b;
  b.output(relu(b.input(1)));
  b.output(relu(b.input(33)));
  b.output(add(b.input(5), b.input(5)));
  b.output(add(b.input(48), b.input(48)));
  b.output(slice(b.input(33), 3, 10));
  b.output(gelu(b.input(1)));
  b.output(gelu(b.input(33)));
  b.output(gelu_tanh(b.input(1)));
  b.output(gelu_tanh(b.input(33)));
  b.output(add_row(b.input(5), parameter(b.graph, "rows", {3, 5}, Init::normal), 2));
  Tensor x = b.input(10); // read as a whole and in part
  b.output(relu(add(slice(x, 0, 5), slice(x, 5, 5))));
  b.output(add(x, relu(dropout(x, 0.5))));
  return b.take();
}

Graph normGraph() {
  Builder b;
  for (int64_t features : {1, 3, 5, 10, 33, 48})
    b.output(b.norm(b.input(features)));
  return b.take();
}

Graph normalizeGraph() {
  Builder b;
  for (int64_t features : {1, 3, 5, 33, 48})
    b.output(l2_normalize(b.input(features)));
  b.output(l2_normalize(b.project(b.input(10), 33)));
  return b.take();
}

Graph embeddingGraph() {
  Builder b;
  Tensor ids = b.graph.ids("ids", b.time), others = b.graph.ids("others", b.time);
  auto table = [&](int64_t rows, int64_t features) {
    return parameter(b.graph, b.unique("table"), {rows, features}, Init::normal);
  };
  b.output(embedding(ids, table(7, 1)));
  b.output(b.norm(add_row(add(embedding(ids, table(9, 33)), b.input(33)), table(2, 33), 1)));
  b.output(b.project(embedding(others, table(300, 5)), 10));
  return b.take();
}

Graph fusedGraph() {
  Builder b;
  b.output(relu(b.project(b.input(3), 10)));
  Tensor x = b.input(5);
  b.output(b.norm(add(x, b.project(relu(b.project(x, 33)), 5))));
  Tensor wide = b.input(33);
  b.output(b.project(b.norm(add(wide, b.project(wide, 33, false)), 1e-12), 48));
  Tensor merged = b.input(10); // two contracts of one input become one
  b.output(add(relu(b.project(merged, 33)), b.project(merged, 33)));
  b.output(b.norm(b.norm(b.input(3))));
  b.output(gelu(b.project(b.input(3), 33)));
  b.output(gelu_tanh(b.project(b.input(3), 33)));
  return b.take();
}

Graph positionsGraph() {
  Builder b;
  b.output(add(b.input(2), sinusoidal_positions(b.time, 2)));
  b.output(add(b.project(b.input(3), 48), sinusoidal_positions(b.time, 48)));
  b.output(sinusoidal_positions(b.time, 10));
  b.output(add(b.input(33), learned_positions(b.time, parameter(b.graph, "P0", {longest, 33}, Init::positions))));
  b.output(learned_positions(b.time, parameter(b.graph, "P1", {longest + 3, 1}, Init::positions)));
  return b.take();
}

Graph meanGraph() {
  Builder b;
  b.output(mean_over_time(b.input(1)));
  b.output(mean_over_time(relu(b.project(b.input(5), 33))));
  b.output(b.norm(b.project(mean_over_time(b.input(48)), 10)));
  return b.take();
}

Graph firstGraph() {
  Builder b;
  b.output(first_step(b.input(1)));
  b.output(l2_normalize(first_step(gelu(b.project(b.input(5), 33)))));
  b.output(b.project(first_step(b.input(48)), 10));
  return b.take();
}

Graph attentionGraph() {
  Builder b;
  b.attendAtOddWidths(b.time, b.time, {});
  return b.take();
}

Graph causalAttentionGraph() {
  Builder b;
  b.attendAtOddWidths(b.time, b.time, {.causal = true});
  return b.take();
}

Graph maskedAttentionGraph() {
  Builder b;
  TimeAxis context = b.context();
  Tensor mask = b.graph.mask("mask", {b.time, context});
  b.attend(b.time, context, 10, 33, {.heads = 1, .mask = mask, .scale = 0.7});
  b.attend(b.time, context, 33, 3, {.heads = 3, .causal = true, .mask = mask});
  b.attend(b.time, context, 5, 10, {.heads = 1, .causal = true}); // a query may see no key
  b.attend(b.time, context, 48, 10, {.heads = 2});
  return b.take();
}

} // namespace

std::vector<LawGraph> opGraphs() {
  return {
      {.name = "dense", .build = denseGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "dense_in_bf16",
       .build = narrowWeightsGraph,
       .streams = true,
       .rowWise = true,
       .unordered = true,
       .precision = Precision::BFloat16},
      {.name = "dense_in_bf16_dot",
       .build = narrowWeightsGraph,
       .streams = true,
       .rowWise = true,
       .unordered = true,
       .precision = Precision::BFloat16Dot,
       .tolerance = 1e-5},
      {.name = "dense_in_int8",
       .build = narrowWeightsGraph,
       .streams = true,
       .rowWise = true,
       .unordered = true,
       .precision = Precision::Int8,
       .tolerance = 1e-5}, // rows that kernel and reference read are the same floats, and so are their integers
      {.name = "pointwise", .build = pointwiseGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "layer_norm", .build = normGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "l2_normalize", .build = normalizeGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "embedding", .build = embeddingGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "fused", .build = fusedGraph, .streams = true, .rowWise = true, .unordered = true, .sample = true},
      {.name = "positions", .build = positionsGraph, .streams = true},
      {.name = "mean_over_time", .build = meanGraph, .streams = true, .unordered = true, .sample = true},
      {.name = "first_step", .build = firstGraph, .streams = true},
      {.name = "attention", .build = attentionGraph, .unordered = true},
      {.name = "causal_attention", .build = causalAttentionGraph, .streams = true},
      {.name = "masked_attention", .build = maskedAttentionGraph, .sample = true},
  };
}

} // namespace burin::laws
