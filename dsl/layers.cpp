// The layers that blocks and encoders are made of.
#include "dsl/layers.h"
#include "dsl/layer_checks.h"

namespace burin {

Tensor dense(Tensor x, const DenseOptions &options, Where where) {
  x = requirePositive(x, where, "dense", {{"outputs", options.outputs}});
  if (!x)
    return x;
  Tensor W = parameter(x, "W", {x.features(), options.outputs}, Init::normal, where);
  Tensor b = options.bias ? parameter(x, "b", {options.outputs}, Init::zeros, where) : Tensor();
  return dense(x, W, b, Layout::in_out, where);
}

Tensor layer_norm(Tensor x, const LayerNormOptions &options, Where where) {
  if (!x)
    return x;
  Tensor gamma = parameter(x, "gamma", {x.features()}, Init::ones, where);
  Tensor beta = parameter(x, "beta", {x.features()}, Init::zeros, where);
  return layer_norm(x, gamma, beta, options.eps, where);
}

Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, const ScaledDotProductAttentionOptions &options,
                                    Where where) {
  return attention(
      q, k, v,
      {.heads = 1, .causal = options.causal, .window = options.window, .mask = options.mask, .scale = options.scale},
      where);
}

Tensor multi_head_self_attention(Tensor x, const MultiHeadSelfAttentionOptions &options, Where where) {
  const std::string layer = "multi_head_self_attention";
  const int64_t d_model = options.d_model, heads = options.heads;
  x = requirePositive(x, where, layer, {{"d_model", d_model}, {"heads", heads}});
  x = requireHeads(x, where, layer, heads, d_model);
  x = requireWindow(x, where, layer, options.window, options.causal);
  x = requireWidth(x, where, layer, "x", d_model);
  if (!x)
    return x;

  auto project = [&](Tensor rows, const char *name) {
    Tensor W = parameter(x, name, {d_model, d_model}, Init::normal, where);
    return dense(rows, W, /*bias=*/{}, Layout::in_out, where);
  };
  Tensor q = project(x, "W_Q");
  Tensor k = project(x, "W_K");
  Tensor v = project(x, "W_V");
  Tensor y = attention(
      q, k, v, {.heads = heads, .causal = options.causal, .window = options.window, .mask = options.mask}, where);
  return project(y, "W_O");
}

Tensor feed_forward(Tensor x, const FeedForwardOptions &options, Where where) {
  x = requirePositive(x, where, "feed_forward", {{"d_ff", options.d_ff}});
  if (!x)
    return x;
  auto project = [&](const char *scope, Tensor rows, int64_t outputs) {
    Scope inside(x, scope, where);
    return dense(rows, {.outputs = outputs}, where);
  };
  Tensor hidden = relu(project("ffn1", x, options.d_ff), where);
  return project("ffn2", hidden, x.features());
}

Tensor add_positions(Tensor x, const PositionsOptions &options, Where where) {
  x = requireLength(x, where, "add_positions", options.max_len);
  return x ? add(x, sinusoidal_positions(x.time(), x.features(), where), where) : x;
}

Tensor learned_positions(Tensor x, const PositionsOptions &options, Where where) {
  x = requireLength(x, where, "learned_positions", options.max_len);
  if (!x)
    return x;
  int64_t rows = options.max_len.value_or(x.time().max());
  Tensor P = parameter(x, "P", {rows, x.features()}, Init::positions, where);
  return add(x, learned_positions(x.time(), P, where), where);
}

} // namespace burin
