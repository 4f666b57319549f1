// Graphs of layers and encoders, of one sequence.
#include "graph_builder.h"

namespace burin::laws {

namespace {

template <int64_t width, int64_t heads, bool causal> Graph selfAttentionGraph() {
  Builder b;
  b.output(multi_head_self_attention(b.input(width), {.d_model = width, .heads = heads, .causal = causal}));
  return b.take();
}

template <bool causal> Graph blockGraph() {
  Builder b;
  Tensor x = b.input(10);
  b.output(transformer_block(x, {.d_model = 10, .heads = 2, .d_ff = 33, .causal = causal, .dropout = 0.1}));
  return b.take();
}

Graph causalEncoderGraph() {
  Builder b;
  b.output(transformer_encoder(b.input(5),
                               {.d_model = 48, .heads = 3, .d_ff = 33, .depth = 2, .outputs = 3, .causal = true}));
  return b.take();
}

/// The same encoder, in a graph too large for a step of one kernel.
Graph separateEncoderGraph() {
  Builder b;
  b.output(transformer_encoder(b.input(5),
                               {.d_model = 48, .heads = 3, .d_ff = 33, .depth = 2, .outputs = 3, .causal = true}));
  b.output(b.project(b.input(400), 400, false));
  return b.take();
}

Graph bertGraph() {
  Builder b;
  Tensor ids = b.graph.ids("ids", b.time);
  Tensor rows =
      bert_encoder(ids, {.vocabulary = 11, .d_model = 24, .heads = 3, .d_ff = 33, .depth = 2, .max_len = longest + 1});
  b.output(l2_normalize(mean_over_time(rows)));
  b.output(first_step(rows));
  return b.take();
}

Graph encoderGraph() {
  Builder b;
  Tensor x = b.input(1);
  b.output(transformer_encoder(x, {.d_model = 10, .heads = 1, .d_ff = 5, .depth = 1, .outputs = 1}));
  return b.take();
}

/// Norms before, trained positions, and two heads: one for the sequence, one for each row.
Graph twoHeadsGraph() {
  Builder b;
  TransformerEncoderOptions options{.d_model = 10, .heads = 2, .d_ff = 33, .depth = 1, .outputs = 5, .causal = true};
  options.norm = Norm::before;
  options.positions = Positions::learned;
  options.pooling = Pooling::none;
  Tensor rows = transformer_encoder(b.input(3), options);
  b.output(b.project(rows, 2));
  b.output(b.project(mean_over_time(rows), 4));
  return b.take();
}

} // namespace

std::vector<LawGraph> layerGraphs() {
  return {
      {.name = "self_attention", .build = selfAttentionGraph<33, 3, false>, .unordered = true},
      {.name = "causal_self_attention", .build = selfAttentionGraph<10, 2, true>, .streams = true},
      {.name = "block", .build = blockGraph<false>, .unordered = true},
      {.name = "causal_block", .build = blockGraph<true>, .streams = true},
      {.name = "encoder", .build = encoderGraph},
      {.name = "bert_encoder", .build = bertGraph},
      {.name = "causal_encoder", .build = causalEncoderGraph, .streams = true, .sample = true},
      {.name = "causal_encoder_in_separate_kernels", .build = separateEncoderGraph, .streams = true},
      {.name = "causal_encoder_in_bf16",
       .build = causalEncoderGraph,
       .streams = true,
       .precision = Precision::BFloat16},
      {.name = "causal_encoder_in_bf16_dot",
       .build = causalEncoderGraph,
       .streams = true,
       .precision = Precision::BFloat16Dot},
      {.name = "causal_encoder_in_int8", .build = causalEncoderGraph, .streams = true, .precision = Precision::Int8},
      {.name = "causal_encoder_in_separate_kernels_in_int8",
       .build = separateEncoderGraph,
       .streams = true,
       .precision = Precision::Int8},
      {.name = "encoder_of_two_heads", .build = twoHeadsGraph, .streams = true},
  };
}

} // namespace burin::laws
