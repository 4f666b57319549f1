// Graphs that look back through a window.
#include "graph_builder.h"

namespace burin::laws {

namespace {

Graph windowedAttentionGraph() {
  Builder b;
  b.attend(b.time, b.time, 1, 3, {.heads = 1, .causal = true, .window = 1});
  b.attend(b.time, b.time, 33, 5, {.heads = 1, .causal = true, .window = 2});
  b.attend(b.time, b.time, 10, 48, {.heads = 2, .causal = true, .window = 5});
  b.attend(b.time, b.time, 5, 10, {.heads = 1, .causal = true, .window = 200}); // longer than any sequence
  return b.take();
}

/// Windows about as long as a tile of keys.
Graph tileWindowsGraph() {
  Builder b;
  b.attend(b.time, b.time, 33, 3, {.heads = 3, .causal = true, .window = 31});
  b.attend(b.time, b.time, 48, 33, {.heads = 3, .causal = true, .window = 32});
  b.attend(b.time, b.time, 10, 10, {.heads = 2, .causal = true, .window = 33});
  return b.take();
}

/// Every combination of causal, window and mask that streams do not have.
Graph windowedMaskedAttentionGraph() {
  Builder b;
  TimeAxis context = b.context();
  Tensor mask = b.graph.mask("mask", {b.time, context});
  b.attend(b.time, context, 10, 33, {.heads = 1, .window = 5, .mask = mask});
  b.attend(b.time, context, 33, 3, {.heads = 3, .causal = true, .window = 33, .mask = mask});
  b.attend(b.time, context, 48, 10, {.heads = 2, .causal = true, .window = 200, .mask = mask});
  b.attend(b.time, context, 5, 10, {.heads = 1, .causal = true, .window = 1});
  b.attend(b.time, context, 1, 3, {.heads = 1, .window = 32});
  return b.take();
}

Graph windowedEncoderGraph() {
  Builder b;
  b.output(transformer_encoder(b.input(5), {.d_model = 48,
                                            .heads = 3,
                                            .d_ff = 33,
                                            .depth = 2,
                                            .outputs = 3,
                                            .causal = true,
                                            .window = 5,
                                            .pooling = Pooling::none}));
  return b.take();
}

/// The blocks and the head of an encoder: an encoder whose rows have their positions already.
Graph windowedBlocksGraph() {
  Builder b;
  Tensor rows = b.input(48);
  for (const char *name : {"block0", "block1"}) {
    Scope block(b.graph, name);
    rows = transformer_block(rows, {.d_model = 48, .heads = 3, .d_ff = 33, .causal = true, .window = 5});
  }
  Scope head(b.graph, "head");
  b.output(dense(rows, {.outputs = 3}));
  return b.take();
}

/// A window of more than a tile of keys.
Graph windowedPreNormEncoderGraph() {
  Builder b;
  b.output(transformer_encoder(b.input(3), {.d_model = 10,
                                            .heads = 2,
                                            .d_ff = 5,
                                            .depth = 2,
                                            .outputs = 2,
                                            .causal = true,
                                            .window = 33,
                                            .norm = Norm::before,
                                            .pooling = Pooling::none}));
  return b.take();
}

} // namespace

std::vector<LawGraph> windowGraphs() {
  return {
      {.name = "windowed_attention", .build = windowedAttentionGraph, .streams = true, .reach = 200},
      {.name = "windows_of_a_tile", .build = tileWindowsGraph, .streams = true, .reach = 33},
      {.name = "windowed_masked_attention", .build = windowedMaskedAttentionGraph},
      {.name = "windowed_blocks", .build = windowedBlocksGraph, .streams = true, .reach = 2 * 4 + 1, .sample = true},
      {.name = "windowed_encoder", .build = windowedEncoderGraph, .streams = true, .reach = 2 * 4 + 1},
      {.name = "windowed_pre_norm_encoder", .build = windowedPreNormEncoderGraph, .streams = true, .reach = 2 * 32 + 1},
  };
}

} // namespace burin::laws
