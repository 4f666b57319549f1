// A layer checks its options first, so that they are reported even where x is null already; then it stops at a null x;
// then it checks x, and builds. A check takes x and returns it, or the null tensor that its report gave.
#include "dsl/layers.h"

namespace burin {

namespace {

struct Size {
  const char *name;
  int64_t value;
};

Tensor requirePositive(Tensor x, Where where, const std::string &layer, std::initializer_list<Size> sizes) {
  for (const auto &[name, value] : sizes)
    if (value < 1)
      x = refuse(x, where, layer + ": " + name + " is " + std::to_string(value) + ", expected at least 1");
  return x;
}

Tensor requireWidth(Tensor x, Where where, const std::string &layer, int64_t d_model) {
  if (!x || x.features() == d_model)
    return x;
  return refuse(x, where,
                layer + ": x has " + std::to_string(x.features()) + " features, but d_model is " +
                    std::to_string(d_model));
}

Tensor requireHeads(Tensor x, Where where, const std::string &layer, int64_t heads, int64_t d_model) {
  if (d_model < 1 || heads < 1 || d_model % heads == 0)
    return x;
  return refuse(
      x, where, layer + ": " + std::to_string(heads) + " heads do not divide d_model " + std::to_string(d_model),
      "choose a d_model that is a multiple of heads, such as " + std::to_string((d_model + heads - 1) / heads * heads));
}

/// x lies along time, and no sequence of it is longer than `max_len`.
Tensor requireLength(Tensor x, Where where, const std::string &layer, std::optional<int64_t> max_len) {
  if (max_len)
    x = requirePositive(x, where, layer, {{"max_len", *max_len}});
  if (!x)
    return x;
  if (!x.time())
    return refuse(x, where, layer + ": x has no time axis, expected [time, features]");
  if (!max_len || x.time().max() <= *max_len)
    return x;
  std::string longest = std::to_string(x.time().max()), limit = std::to_string(*max_len);
  return refuse(x, where, layer + ": a sequence can have " + longest + " rows, but max_len is " + limit,
                "raise max_len, or declare the time with .max = " + limit);
}

} // namespace

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
  return attention(q, k, v, {.heads = 1, .causal = options.causal, .mask = options.mask, .scale = options.scale},
                   where);
}

Tensor multi_head_self_attention(Tensor x, const MultiHeadSelfAttentionOptions &options, Where where) {
  const std::string layer = "multi_head_self_attention";
  const int64_t d_model = options.d_model, heads = options.heads;
  x = requirePositive(x, where, layer, {{"d_model", d_model}, {"heads", heads}});
  x = requireHeads(x, where, layer, heads, d_model);
  x = requireWidth(x, where, layer, d_model);
  if (!x)
    return x;

  auto project = [&](Tensor rows, const char *name) {
    Tensor W = parameter(x, name, {d_model, d_model}, Init::normal, where);
    return dense(rows, W, /*bias=*/{}, Layout::in_out, where);
  };
  Tensor q = project(x, "W_Q");
  Tensor k = project(x, "W_K");
  Tensor v = project(x, "W_V");
  Tensor y = attention(q, k, v, {.heads = heads, .causal = options.causal, .mask = options.mask}, where);
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

Tensor transformer_block(Tensor x, const TransformerBlockOptions &options, Where where) {
  auto inside = [&](const char *scope, auto layer) {
    Scope named(x, scope, where);
    return layer();
  };
  // LayerNorm(input + Dropout(result)): how both sub-layers end.
  auto join = [&](const char *scope, Tensor input, Tensor result) {
    Tensor sum = add(input, dropout(result, options.dropout, where), where);
    return inside(scope, [&] { return layer_norm(sum, {.eps = options.eps}, where); });
  };

  Tensor attended = inside("attn", [&] {
    return multi_head_self_attention(x, {.d_model = options.d_model, .heads = options.heads, .causal = options.causal},
                                     where);
  });
  Tensor y = join("ln1", x, attended);
  Tensor fed = feed_forward(y, {.d_ff = options.d_ff}, where);
  return join("ln2", y, fed);
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

Tensor transformer_encoder(Tensor x, const TransformerEncoderOptions &options, Where where) {
  const std::string layer = "transformer_encoder";
  x = requirePositive(x, where, layer,
                      {{"d_model", options.d_model},
                       {"heads", options.heads},
                       {"d_ff", options.d_ff},
                       {"depth", options.depth},
                       {"outputs", options.outputs}});
  x = requireLength(x, where, layer, options.max_len);
  if (!x)
    return x;
  auto project = [&](const char *scope, Tensor rows, int64_t outputs) {
    Scope named(x, scope, where);
    return dense(rows, {.outputs = outputs}, where);
  };

  Tensor rows = add_positions(project("embed", x, options.d_model), {.max_len = options.max_len}, where);
  for (int64_t block = 0; block < options.depth; ++block) {
    Scope named(x, "block" + std::to_string(block), where);
    rows = transformer_block(rows,
                             {.d_model = options.d_model,
                              .heads = options.heads,
                              .d_ff = options.d_ff,
                              .causal = options.causal,
                              .dropout = options.dropout},
                             where);
  }
  return project("head", mean_over_time(rows, where), options.outputs);
}

namespace {

/// The parts that a BERT encoder is made of, with the names of its files.
class BertParts {
public:
  BertParts(const BertEncoderOptions &options, Where where) : options_(options), where_(where) {}

  /// A matrix [out, in] and a bias, named `scope`.weight and `scope`.bias.
  Tensor project(const char *scope, Tensor x, int64_t outputs) const {
    Scope named(x, scope, where_);
    Tensor weight = parameter(x, "weight", {outputs, x.features()}, Init::normal, where_);
    return dense(x, weight, parameter(x, "bias", {outputs}, Init::zeros, where_), Layout::out_in, where_);
  }

  Tensor norm(const char *scope, Tensor x) const {
    Scope named(x, scope, where_);
    Tensor scale = parameter(x, options_.scale, {x.features()}, Init::ones, where_);
    return layer_norm(x, scale, parameter(x, options_.shift, {x.features()}, Init::zeros, where_), options_.eps,
                      where_);
  }

  Tensor embed(Tensor ids) const {
    Scope named(ids, "embeddings", where_);
    auto table = [&](const char *name, int64_t rows) {
      return parameter(ids, name, {rows, options_.d_model}, Init::positions, where_);
    };
    Tensor words = embedding(ids, table("word_embeddings.weight", options_.vocabulary), where_);
    Tensor positions = learned_positions(ids.time(), table("position_embeddings.weight", options_.max_len), where_);
    Tensor types = table("token_type_embeddings.weight", options_.token_types);
    return norm("LayerNorm", add_row(add(words, positions, where_), types, 0, where_));
  }

  Tensor activate(Tensor x) const {
    switch (options_.activation) {
    case Activation::relu:
      return relu(x, where_);
    case Activation::gelu:
      return gelu(x, where_);
    case Activation::gelu_tanh:
      return gelu_tanh(x, where_);
    }
    return x;
  }

  /// y = LayerNorm(x + Attention(x)), z = LayerNorm(y + FeedForward(y)).
  Tensor block(Tensor x) const {
    Tensor q = project("attention.self.query", x, options_.d_model);
    Tensor k = project("attention.self.key", x, options_.d_model);
    Tensor v = project("attention.self.value", x, options_.d_model);
    Tensor attended = attention(q, k, v, {.heads = options_.heads}, where_);
    Tensor y = norm("attention.output.LayerNorm",
                    add(x, project("attention.output.dense", attended, options_.d_model), where_));
    Tensor hidden = activate(project("intermediate.dense", y, options_.d_ff));
    return norm("output.LayerNorm", add(y, project("output.dense", hidden, options_.d_model), where_));
  }

private:
  const BertEncoderOptions &options_;
  Where where_;
};

} // namespace

std::optional<Activation> activationNamed(const std::string &name) {
  if (name == "relu")
    return Activation::relu;
  if (name == "gelu")
    return Activation::gelu;
  if (name == "gelu_new")
    return Activation::gelu_tanh;
  return std::nullopt;
}

Tensor bert_encoder(Tensor ids, const BertEncoderOptions &options, Where where) {
  const std::string layer = "bert_encoder";
  ids = requirePositive(ids, where, layer,
                        {{"vocabulary", options.vocabulary},
                         {"d_model", options.d_model},
                         {"heads", options.heads},
                         {"d_ff", options.d_ff},
                         {"depth", options.depth},
                         {"token_types", options.token_types}});
  ids = requireHeads(ids, where, layer, options.heads, options.d_model);
  ids = requireLength(ids, where, layer, options.max_len);
  if (!ids)
    return ids;
  BertParts parts(options, where);
  Tensor rows = parts.embed(ids);
  for (int64_t block = 0; block < options.depth; ++block) {
    Scope named(ids, "encoder.layer." + std::to_string(block), where);
    rows = parts.block(rows);
  }
  return rows;
}

} // namespace burin
