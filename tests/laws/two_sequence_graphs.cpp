// Graphs of two sequences, of latent queries, and of gates.
#include "graph_builder.h"

namespace burin::laws {

namespace {

Graph crossAttentionGraph() {
  Builder b;
  TimeAxis context = b.context();
  b.attend(b.time, context, 1, 3, {.heads = 1});
  b.attend(b.time, context, 10, 48, {.heads = 2});
  b.attend(b.time, context, 33, 3, {.heads = 3, .scale = 0.7});
  b.attend(b.time, context, 48, 33, {.heads = 3});
  b.output(multi_head_cross_attention(b.input(10), b.input(context, 7), {.d_model = 10, .heads = 2}));
  return b.take();
}

/// The context has a past of its own.
Graph encodedContextGraph() {
  Builder b;
  TimeAxis context = b.context();
  Tensor rows = add_positions(b.project(b.input(context, 3), 12));
  {
    Scope encoder(b.graph, "context");
    rows = transformer_block(rows, {.d_model = 12, .heads = 2, .d_ff = 5, .causal = true});
  }
  Tensor x = b.norm(b.project(b.input(4), 10));
  Scope cross(b.graph, "cross");
  b.output(b.norm(add(x, multi_head_cross_attention(x, rows, {.d_model = 10, .heads = 2}))));
  return b.take();
}

Graph gatedCrossAttentionGraph() {
  Builder b;
  Tensor x = b.input(10), context = b.input(b.context(), 7), signal = b.signal();
  b.output(gated_cross_attention(x, context, signal, {.d_model = 10, .heads = 2, .threshold = 0.2}));
  return b.take();
}

/// The inner signal is computed where the outer gate is open, and nowhere else.
Graph nestedGatesGraph() {
  Builder b;
  Tensor x = b.input(5), context = b.input(b.context(), 5), signal = b.signal();
  Tensor y = gate(x, signal, -0.1, [&] {
    Tensor hidden = relu(b.project(x, 33));
    Tensor inner = b.project(hidden, 1);
    Tensor gated = gate(b.project(hidden, 5), inner, 0.1, [&] { return attention(x, context, context, {.heads = 1}); });
    return b.project(gated, 5);
  });
  b.output(y);
  b.output(b.norm(y));
  return b.take();
}

/// Signals that are computed: a contract to one column, a column of what is gated.
Graph gatedFeedForwardGraph() {
  Builder b;
  Tensor x = b.input(10), wide = b.input(33);
  b.output(gate(x, b.project(x, 1), 0.1, [&] { return feed_forward(x, {.d_ff = 33}); }));
  b.output(gate(wide, slice(wide, 32, 1), -0.3, [&] { return b.norm(b.project(wide, 33)); }));
  return b.take();
}

/// What is behind a gate is kept whether it is open or not.
Graph gatedSelfAttentionGraph() {
  Builder b;
  Tensor x = b.input(10), signal = b.signal();
  b.output(
      gate(x, signal, 0.2, [&] { return multi_head_self_attention(x, {.d_model = 10, .heads = 2, .causal = true}); }));
  return b.take();
}

Graph latentsGraph() {
  Builder b;
  Tensor x = b.input(7);
  Tensor read = latent_cross_attention(x, {.latents = 4, .d_model = 10, .heads = 2});
  b.output(read);
  b.output(relu(b.project(b.norm(read), 5)));
  b.output(l2_normalize(mean_over_time(x)));
  Tensor keys = b.project(x, 33), queries = b.norm(latents(b.weight(3, 33)));
  b.output(attention(queries, keys, keys, {.heads = 3}));
  b.output(attention(latents(b.weight(1, 7)), x, x, {.heads = 1}));
  return b.take();
}

/// Keys and values that were trained.
Graph attentionToLatentsGraph() {
  Builder b;
  b.output(attention(b.input(10), latents(b.weight(5, 10)), latents(b.weight(5, 33)), {.heads = 1}));
  b.output(attention(b.input(33), b.norm(latents(b.weight(40, 33))), latents(b.weight(40, 3)), {.heads = 3}));
  return b.take();
}

Graph decoderBlocksGraph() {
  Builder b;
  Tensor x = b.input(10), context = b.input(b.context(), 7);
  {
    Scope decoder(b.graph, "after");
    b.output(decoder_block(x, context, {.d_model = 10, .heads = 2, .d_ff = 33}));
  }
  Scope decoder(b.graph, "before");
  b.output(decoder_block(x, context,
                         {.d_model = 10, .heads = 1, .d_ff = 5, .window = 5, .norm = Norm::before, .eps = 1e-6}));
  return b.take();
}

/// One matrix, read in both layouts and as rows.
Graph tiedWeightsGraph() {
  Builder b;
  Tensor x = b.input(10), table = b.weight(10, 10);
  b.output(dense(x, table, {}, Layout::in_out));
  b.output(dense(relu(x), table, {}, Layout::out_in));
  b.output(relu(add(dense(x, table, {}, Layout::in_out), dense(x, table, {}, Layout::out_in))));
  b.output(attention(latents(table), x, x, {.heads = 2}));
  b.output(add_row(x, table, 3));
  return b.take();
}

} // namespace

std::vector<LawGraph> twoSequenceGraphs() {
  return {
      {.name = "cross_attention", .build = crossAttentionGraph, .streams = true, .contexts = true},
      {.name = "encoded_context", .build = encodedContextGraph, .streams = true, .contexts = true},
      {.name = "gated_cross_attention",
       .build = gatedCrossAttentionGraph,
       .streams = true,
       .contexts = true,
       .gate = true,
       .sample = true},
      {.name = "nested_gates", .build = nestedGatesGraph, .streams = true, .contexts = true, .gate = true},
      {.name = "gated_feed_forward",
       .build = gatedFeedForwardGraph,
       .streams = true,
       .rowWise = true,
       .unordered = true},
      {.name = "gated_self_attention", .build = gatedSelfAttentionGraph, .streams = true, .gate = true},
      {.name = "latents", .build = latentsGraph, .streams = true, .unordered = true, .latents = true},
      {.name = "attention_to_latents",
       .build = attentionToLatentsGraph,
       .streams = true,
       .rowWise = true,
       .unordered = true},
      {.name = "decoder_blocks", .build = decoderBlocksGraph, .streams = true, .contexts = true},
      {.name = "tied_weights", .build = tiedWeightsGraph, .streams = true, .unordered = true, .latents = true},
  };
}

} // namespace burin::laws
