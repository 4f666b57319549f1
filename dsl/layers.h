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
  std::optional<int64_t> window = {}; // with causal: how many keys a query sees, its own the last
  Tensor mask = {};                   // [queries, keys], from Graph::mask
  std::optional<double> scale = {};   // 1/sqrt(d_k) unless given
};

/// softmax(scale q k^T) v with one head (Vaswani et al. 2017, arXiv:1706.03762, equation 1). q is [t_q, d_k],
/// k [t_k, d_k], v [t_k, d_v]; no parameters.
Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, const ScaledDotProductAttentionOptions &options = {},
                                    Where where = Where::current());

struct MultiHeadSelfAttentionOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  bool causal = false;
  std::optional<int64_t> window = {}; // each row sees itself and the window - 1 before it; needs causal
  Tensor mask = {};                   // [time, time], from Graph::mask
};

/// Attention of x [time, d_model] to itself, without biases (the same paper, section 3.2.2). Parameters W_Q, W_K, W_V,
/// W_O, each [d_model, d_model].
Tensor multi_head_self_attention(Tensor x, const MultiHeadSelfAttentionOptions &options,
                                 Where where = Where::current());

struct MultiHeadCrossAttentionOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  Tensor mask = {}; // [queries, context], from Graph::mask
};

/// Attention of queries xq [t_q, d_model] to a context xc [t_c, d_context] of another sequence, without biases: the
/// decoder's look at the encoder (the same paper, section 3.2.3). Every query sees all the context there is; where
/// there is none the result is 0. Parameters W_Q, W_O [d_model, d_model], W_K, W_V [d_context, d_model].
Tensor multi_head_cross_attention(Tensor xq, Tensor xc, const MultiHeadCrossAttentionOptions &options,
                                  Where where = Where::current());

struct GatedCrossAttentionOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  double threshold = 0;
  Tensor mask = {}; // [queries, context], from Graph::mask
};

/// xq where signal [t_q, 1] is at most the threshold, else xq + multi_head_cross_attention(xq, xc), whose parameters it
/// has.
Tensor gated_cross_attention(Tensor xq, Tensor xc, Tensor signal, const GatedCrossAttentionOptions &options,
                             Where where = Where::current());

struct LatentCrossAttentionOptions {
  int64_t latents = 0; // how many
  int64_t d_model = 0;
  int64_t heads = 0;
};

/// multi_head_cross_attention of trained queries: a context of any length becomes [latents, d_model] in every sequence
/// (Jaegle et al. 2021, arXiv:2103.03206, section 3.1, without its norms and feed-forward). Parameters latents
/// [latents, d_model] and those of the attention.
Tensor latent_cross_attention(Tensor xc, const LatentCrossAttentionOptions &options, Where where = Where::current());

struct FeedForwardOptions {
  int64_t d_ff = 0;
};

/// max(0, x W_1 + b_1) W_2 + b_2. Parameters ffn1.W, ffn1.b, ffn2.W, ffn2.b.
Tensor feed_forward(Tensor x, const FeedForwardOptions &options, Where where = Where::current());

/// Where the norms of a block stand.
enum class Norm {
  after, // LayerNorm(x + f(x)) for each sub-layer f, as in the paper
  before // x + f(LayerNorm(x)): pre-norm (Xiong et al. 2020, arXiv:2002.04745)
};

struct TransformerBlockOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  int64_t d_ff = 0;
  bool causal = false;
  std::optional<int64_t> window = {}; // of the attention; needs causal
  Norm norm = Norm::after;
  double dropout = 0; // on each sub-layer's output, before the addition
  double eps = 1e-5;
};

/// y = LayerNorm(x + Attention(x)), z = LayerNorm(y + FeedForward(y)); or, with norms before, y = x +
/// Attention(LayerNorm(x)), z = y + FeedForward(LayerNorm(y)). 12 parameters: attn.*, ln1.gamma, ln1.beta, ffn1.*,
/// ffn2.*, ln2.*.
Tensor transformer_block(Tensor x, const TransformerBlockOptions &options, Where where = Where::current());

struct DecoderBlockOptions {
  int64_t d_model = 0;
  int64_t heads = 0; // of both attentions
  int64_t d_ff = 0;
  bool causal = true;                 // the attention of x to itself is
  std::optional<int64_t> window = {}; // of that attention; needs causal
  Norm norm = Norm::after;
  double dropout = 0; // on each sub-layer's output, before the addition
  double eps = 1e-5;
};

/// Three sub-layers, each with its addition and its norm: attention of x [time, d_model] to itself, attention of that
/// to the context [t_c, d_context], feed-forward (the same paper, section 3.1). 18 parameters: attn.*, ln1.*, cross.*,
/// ln2.*, ffn1.*, ffn2.*, ln3.*.
Tensor decoder_block(Tensor x, Tensor context, const DecoderBlockOptions &options, Where where = Where::current());

struct PositionsOptions {
  std::optional<int64_t> max_len = {}; // the time's own maximum unless given; a time that exceeds it is refused
};

/// x + sinusoidal positions. No parameters.
Tensor add_positions(Tensor x, const PositionsOptions &options = {}, Where where = Where::current());

/// x + rows of a trained table. Parameter P [max_len, features of x].
Tensor learned_positions(Tensor x, const PositionsOptions &options = {}, Where where = Where::current());

enum class Positions { sinusoidal, learned };

enum class Pooling { mean, none };

struct TransformerEncoderOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  int64_t d_ff = 0;
  int64_t depth = 0; // blocks
  int64_t outputs = 0;
  std::optional<int64_t> max_len = {}; // the time's own maximum unless given
  bool causal = false;                 // every block is
  std::optional<int64_t> window = {};  // of every block; needs causal
  Norm norm = Norm::after;             // of every block
  Positions positions = Positions::sinusoidal;
  Pooling pooling = Pooling::mean;
  double dropout = 0;
};

/// [time, n_in] to [outputs], one row per sequence: dense `embed`, positions, blocks `block0` …, mean over time, dense
/// `head`; without pooling a row per time step. Learned positions are the table `positions.P` [max_len, d_model].
/// Blocks with norms before are followed by one more, `ln`.
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
