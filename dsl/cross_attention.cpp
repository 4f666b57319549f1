// Attention between two sequences: plain, behind a gate, and of trained queries.
#include "dsl/layer_checks.h"
#include "dsl/layers.h"
#include <cmath>

namespace burin {

namespace {

Tensor requireQueries(Tensor xq, Where where, const std::string &layer, int64_t d_model, int64_t heads) {
  xq = requirePositive(xq, where, layer, {{"d_model", d_model}, {"heads", heads}});
  xq = requireHeads(xq, where, layer, heads, d_model);
  return requireWidth(xq, where, layer, "xq", d_model);
}

/// What the three layers share; their options are checked. The projections of the context are made here, so inside a
/// gate they are what it may skip.
Tensor attend(Tensor xq, Tensor xc, const MultiHeadCrossAttentionOptions &options, Where where) {
  auto project = [&](Tensor rows, const char *name, int64_t inputs) {
    Tensor W = parameter(xq, name, {inputs, options.d_model}, Init::normal, where);
    return dense(rows, W, /*bias=*/{}, Layout::in_out, where);
  };
  Tensor q = project(xq, "W_Q", options.d_model);
  Tensor k = project(xc, "W_K", xc.features());
  Tensor v = project(xc, "W_V", xc.features());
  Tensor y = attention(q, k, v, {.heads = options.heads, .mask = options.mask}, where);
  return project(y, "W_O", options.d_model);
}

} // namespace

Tensor multi_head_cross_attention(Tensor xq, Tensor xc, const MultiHeadCrossAttentionOptions &options, Where where) {
  xq = requireQueries(xq, where, "multi_head_cross_attention", options.d_model, options.heads);
  if (!xq || !xc)
    return xq ? xc : xq;
  return attend(xq, xc, options, where);
}

Tensor gated_cross_attention(Tensor xq, Tensor xc, Tensor signal, const GatedCrossAttentionOptions &options,
                             Where where) {
  const std::string layer = "gated_cross_attention";
  if (!std::isfinite(options.threshold))
    xq =
        refuse(xq, where, layer + ": threshold is " + std::to_string(options.threshold) + ", expected a finite number");
  xq = requireQueries(xq, where, layer, options.d_model, options.heads);
  if (!xq || !xc)
    return xq ? xc : xq;
  return gate(
      xq, signal, options.threshold,
      [&] { return attend(xq, xc, {.d_model = options.d_model, .heads = options.heads, .mask = options.mask}, where); },
      where);
}

Tensor latent_cross_attention(Tensor xc, const LatentCrossAttentionOptions &options, Where where) {
  const std::string layer = "latent_cross_attention";
  const int64_t d_model = options.d_model, heads = options.heads;
  xc = requirePositive(xc, where, layer, {{"latents", options.latents}, {"d_model", d_model}, {"heads", heads}});
  xc = requireHeads(xc, where, layer, heads, d_model);
  if (!xc)
    return xc;
  Tensor table = parameter(xc, "latents", {options.latents, d_model}, Init::positions, where);
  return attend(latents(table, where), xc, {.d_model = d_model, .heads = heads}, where);
}

} // namespace burin
