// Whole encoders.
#include "dsl/layer_checks.h"
#include "dsl/layers.h"

namespace burin {

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

  Tensor rows = project("embed", x, options.d_model);
  if (options.positions == Positions::learned) {
    Scope named(x, "positions", where);
    rows = learned_positions(rows, {.max_len = options.max_len}, where);
  } else {
    rows = add_positions(rows, {.max_len = options.max_len}, where);
  }
  for (int64_t block = 0; block < options.depth; ++block) {
    Scope named(x, "block" + std::to_string(block), where);
    rows = transformer_block(rows,
                             {.d_model = options.d_model,
                              .heads = options.heads,
                              .d_ff = options.d_ff,
                              .causal = options.causal,
                              .window = options.window,
                              .norm = options.norm,
                              .dropout = options.dropout},
                             where);
  }
  if (options.norm == Norm::before) {
    Scope named(x, "ln", where);
    rows = layer_norm(rows, {}, where);
  }
  return project("head", options.pooling == Pooling::mean ? mean_over_time(rows, where) : rows, options.outputs);
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
