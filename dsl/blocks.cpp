// Blocks: sub-layers, each with its addition and its norm.
#include "dsl/layer_checks.h"
#include "dsl/layers.h"
#include <functional>

namespace burin {

namespace {

struct Residual {
  Norm norm;
  double dropout, eps;
};

/// LayerNorm(x + Dropout(f(x))), or x + Dropout(f(LayerNorm(x))); the norm's parameters are `scope`.gamma and .beta.
Tensor addTo(Tensor x, const char *scope, const Residual &options, Where where,
             const std::function<Tensor(Tensor)> &f) {
  auto normalized = [&](Tensor rows) {
    Scope inside(x, scope, where);
    return layer_norm(rows, {.eps = options.eps}, where);
  };
  if (options.norm == Norm::before)
    return add(x, dropout(f(normalized(x)), options.dropout, where), where);
  return normalized(add(x, dropout(f(x), options.dropout, where), where));
}

template <typename BlockOptions> Tensor attendToItself(Tensor rows, const BlockOptions &options, Where where) {
  Scope inside(rows, "attn", where);
  return multi_head_self_attention(
      rows, {.d_model = options.d_model, .heads = options.heads, .causal = options.causal, .window = options.window},
      where);
}

} // namespace

Tensor transformer_block(Tensor x, const TransformerBlockOptions &options, Where where) {
  const Residual residual{options.norm, options.dropout, options.eps};
  Tensor y = addTo(x, "ln1", residual, where, [&](Tensor rows) { return attendToItself(rows, options, where); });
  return addTo(y, "ln2", residual, where,
               [&](Tensor rows) { return feed_forward(rows, {.d_ff = options.d_ff}, where); });
}

Tensor decoder_block(Tensor x, Tensor context, const DecoderBlockOptions &options, Where where) {
  // Both attentions have these options: what is wrong with them is said once, of the block.
  const std::string layer = "decoder_block";
  x = requirePositive(x, where, layer,
                      {{"d_model", options.d_model}, {"heads", options.heads}, {"d_ff", options.d_ff}});
  x = requireHeads(x, where, layer, options.heads, options.d_model);
  x = requireWindow(x, where, layer, options.window, options.causal);
  x = requireWidth(x, where, layer, "x", options.d_model);
  if (!x || !context)
    return x ? context : x;

  const Residual residual{options.norm, options.dropout, options.eps};
  Tensor y = addTo(x, "ln1", residual, where, [&](Tensor rows) { return attendToItself(rows, options, where); });
  Tensor z = addTo(y, "ln2", residual, where, [&](Tensor rows) {
    Scope inside(x, "cross", where);
    return multi_head_cross_attention(rows, context, {.d_model = options.d_model, .heads = options.heads}, where);
  });
  return addTo(z, "ln3", residual, where,
               [&](Tensor rows) { return feed_forward(rows, {.d_ff = options.d_ff}, where); });
}

} // namespace burin
