// Layers: what encoders are made of, written with nothing but the functions of dsl/encoder.h.
//
// A layer makes its own parameters, named as its description says, below the scopes it is called in: the same layer is
// `W_Q` where it is the whole graph and `block0.attn.W_Q` inside an encoder. Two layers in one scope therefore clash,
// and the error says so. Options are structs for designated initialisers; what has no default is 0 and refused as such.
#pragma once

#include "dsl/encoder.h"

namespace burin {

struct DenseOptions {
  int64_t outputs = 0;
  bool bias = true;
};

/// x W + b. Parameters W [features of x, outputs], b [outputs].
Tensor dense(Tensor x, const DenseOptions &options, Where where = Where::current());

struct LayerNormOptions {
  double eps = 1e-5;
};

/// layer_norm with its own gamma, beta [features of x].
Tensor layer_norm(Tensor x, const LayerNormOptions &options = {}, Where where = Where::current());

struct ScaledDotProductAttentionOptions {
  bool causal = false;
  Tensor mask = {};                 // [queries, keys], from Graph::mask
  std::optional<double> scale = {}; // 1/sqrt(d_k) unless given
};

/// softmax(scale q k^T) v with one head (Vaswani et al. 2017, arXiv:1706.03762, equation 1). q is [t_q, d_k],
/// k [t_k, d_k], v [t_k, d_v]; no parameters.
Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, const ScaledDotProductAttentionOptions &options = {},
                                    Where where = Where::current());

struct MultiHeadSelfAttentionOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  bool causal = false;
  Tensor mask = {}; // [time, time], from Graph::mask
};

/// Attention of x [time, d_model] to itself, without biases (the same paper, section 3.2.2). Parameters W_Q, W_K, W_V,
/// W_O, each [d_model, d_model].
Tensor multi_head_self_attention(Tensor x, const MultiHeadSelfAttentionOptions &options,
                                 Where where = Where::current());

struct FeedForwardOptions {
  int64_t d_ff = 0;
};

/// max(0, x W_1 + b_1) W_2 + b_2. Parameters ffn1.W, ffn1.b, ffn2.W, ffn2.b.
Tensor feed_forward(Tensor x, const FeedForwardOptions &options, Where where = Where::current());

struct TransformerBlockOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  int64_t d_ff = 0;
  bool causal = false;
  double dropout = 0; // on each sub-layer's output, before the addition
  double eps = 1e-5;
};

/// y = LayerNorm(x + Attention(x)), z = LayerNorm(y + FeedForward(y)): norms after the additions, as in the paper.
/// 12 parameters: attn.*, ln1.gamma, ln1.beta, ffn1.*, ffn2.*, ln2.*.
Tensor transformer_block(Tensor x, const TransformerBlockOptions &options, Where where = Where::current());

struct PositionsOptions {
  std::optional<int64_t> max_len = {}; // the time's own maximum unless given; a time that exceeds it is refused
};

/// x + sinusoidal positions. No parameters.
Tensor add_positions(Tensor x, const PositionsOptions &options = {}, Where where = Where::current());

/// x + rows of a trained table. Parameter P [max_len, features of x].
Tensor learned_positions(Tensor x, const PositionsOptions &options = {}, Where where = Where::current());

struct TransformerEncoderOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  int64_t d_ff = 0;
  int64_t depth = 0; // blocks
  int64_t outputs = 0;
  std::optional<int64_t> max_len = {}; // the time's own maximum unless given
  bool causal = false;                 // every block is
  double dropout = 0;
};

/// [time, n_in] to [outputs], one row per sequence: dense `embed`, sinusoidal positions, blocks `block0` …, mean over
/// time, dense `head`.
Tensor transformer_encoder(Tensor x, const TransformerEncoderOptions &options, Where where = Where::current());

enum class Activation { relu, gelu, gelu_tanh };

/// By the name that BERT-family configurations give it: relu, gelu, gelu_new.
std::optional<Activation> activationNamed(const std::string &name);

struct BertEncoderOptions {
  int64_t vocabulary = 0;
  int64_t d_model = 0;
  int64_t heads = 0;
  int64_t d_ff = 0;
  int64_t depth = 0;
  int64_t max_len = 0;     // rows of the table of positions
  int64_t token_types = 2; // rows of the table of token types; every token is of the first
  Activation activation = Activation::gelu;
  double eps = 1e-12;
  std::string scale = "weight", shift = "bias"; // how the parameters of a norm are called
};

/// The encoder of BERT (Devlin et al. 2018, arXiv:1810.04805), without its pooler: token ids to rows [time, d_model].
/// Parameters have the names and, of matrices, the order [out, in] of the files of such models:
/// embeddings.{word,position,token_type}_embeddings.weight, embeddings.LayerNorm.*, and below encoder.layer.<n>:
/// attention.self.{query,key,value}.*, attention.output.{dense,LayerNorm}.*, intermediate.dense.*,
/// output.{dense,LayerNorm}.*.
Tensor bert_encoder(Tensor ids, const BertEncoderOptions &options, Where where = Where::current());

} // namespace burin
