#include "dsl/golden_layers.h"
#include "dsl/layers.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace burin {

namespace {

/// The arguments of a case, checked against the table: everything that a row asks for is there and has its type.
class Arguments {
public:
  explicit Arguments(const json &values) : values_(values) {}
  int64_t size(const char *name) const { return values_.at(name).get<int64_t>(); }
  bool flag(const char *name) const { return values_.at(name).get<bool>(); }
  double number(const char *name) const { return values_.at(name).get<double>(); }
  std::string text(const char *name) const { return values_.at(name).get<std::string>(); }
  bool flag(const char *name, bool otherwise) const { return values_.contains(name) ? flag(name) : otherwise; }
  int64_t size(const char *name, int64_t otherwise) const { return values_.contains(name) ? size(name) : otherwise; }
  std::string text(const char *name, const char *otherwise) const {
    return values_.contains(name) ? text(name) : otherwise;
  }

private:
  const json &values_;
};

struct Parameter {
  const char *name;
  enum { size, flag, number, text } type = size;
  bool optional = false;
};

struct GoldenLayer {
  llvm::StringLiteral op;
  std::vector<Parameter> parameters;
  void (*declare)(Graph &g, const Arguments &arguments);
};

void declareAttention(Graph &g, const Arguments &a) {
  TimeAxis t_q = g.time("t_q", {.max = a.size("t_q")}), t_k = g.time("t_k", {.max = a.size("t_k")});
  Tensor q = g.input("q", {t_q, a.size("d_k")});
  Tensor k = g.input("k", {t_k, a.size("d_k")});
  Tensor v = g.input("v", {t_k, a.size("d_v")});
  Tensor mask = a.flag("masked") ? g.mask("mask", {t_q, t_k}) : Tensor();
  g.output("y", scaled_dot_product_attention(q, k, v, {.mask = mask}));
}

/// The context of a layer that attends to another sequence.
Tensor context(Graph &g, const Arguments &a) {
  return g.input("xc", {g.time("t_c", {.max = a.size("t_c")}), a.size("d_context")});
}

void declareCrossAttention(Graph &g, const Arguments &a) {
  TimeAxis t_q = g.time("t_q", {.max = a.size("t_q")});
  Tensor xq = g.input("xq", {t_q, a.size("d_model")}), xc = context(g, a);
  Tensor mask = a.flag("masked") ? g.mask("mask", {t_q, xc.time()}) : Tensor();
  g.output("y", multi_head_cross_attention(xq, xc,
                                           {.d_model = a.size("d_model"), .heads = a.size("n_heads"), .mask = mask}));
}

void declareGatedCrossAttention(Graph &g, const Arguments &a) {
  TimeAxis t_q = g.time("t_q", {.max = a.size("t_q")});
  Tensor xq = g.input("xq", {t_q, a.size("d_model")}), xc = context(g, a), signal = g.input("signal", {t_q, 1});
  Tensor mask = a.flag("masked", false) ? g.mask("mask", {t_q, xc.time()}) : Tensor();
  g.output("y", gated_cross_attention(xq, xc, signal,
                                      {.d_model = a.size("d_model"),
                                       .heads = a.size("n_heads"),
                                       .threshold = a.number("threshold"),
                                       .mask = mask}));
}

void declareLatentCrossAttention(Graph &g, const Arguments &a) {
  g.output("y", latent_cross_attention(
                    context(g, a),
                    {.latents = a.size("n_latents"), .d_model = a.size("d_model"), .heads = a.size("n_heads")}));
}

/// The input of a layer that takes one sequence, as all that follow do.
Tensor sequence(Graph &g, const Arguments &a, const char *length, const char *features) {
  return g.input("x", {g.time("time", {.max = a.size(length)}), a.size(features)});
}

void declareSelfAttention(Graph &g, const Arguments &a) {
  Tensor x = sequence(g, a, "length", "d_model");
  g.output("y", multi_head_self_attention(
                    x, {.d_model = a.size("d_model"), .heads = a.size("n_heads"), .causal = a.flag("causal")}));
}

void declareBlock(Graph &g, const Arguments &a) {
  Tensor x = sequence(g, a, "length", "d_model");
  g.output("y", transformer_block(x, {.d_model = a.size("d_model"),
                                      .heads = a.size("n_heads"),
                                      .d_ff = a.size("d_ff"),
                                      .causal = a.flag("causal")}));
}

void declareSinusoidalPositions(Graph &g, const Arguments &a) {
  g.output("y", sinusoidal_positions(g.time("time", {.max = a.size("length")}), a.size("d_model")));
}

void declareLearnedPositions(Graph &g, const Arguments &a) {
  Tensor x = sequence(g, a, "length", "d_model");
  g.output("y", learned_positions(x, {.max_len = a.size("max_len")}));
}

void declareEncoder(Graph &g, const Arguments &a) {
  // The time reaches to max_len, so no layer can tell that the case's own sequences are longer.
  if (a.size("length") > a.size("max_len"))
    refuse(g, Where::current(),
           "transformer_encoder: length is " + std::to_string(a.size("length")) + ", but max_len is " +
               std::to_string(a.size("max_len")));
  Tensor x = sequence(g, a, "max_len", "n_in");
  g.output("y", transformer_encoder(x, {.d_model = a.size("d_model"),
                                        .heads = a.size("n_heads"),
                                        .d_ff = a.size("d_ff"),
                                        .depth = a.size("depth"),
                                        .outputs = a.size("n_out"),
                                        .max_len = a.size("max_len"),
                                        .causal = a.flag("causal")}));
}

/// The rows before pooling, and what is pooled before it is normalised, are outputs too: a case may hold their values.
void declareBertEncoder(Graph &g, const Arguments &a) {
  const std::string act = a.text("hidden_act"), pooling = a.text("pooling");
  std::optional<Activation> activation = activationNamed(act);
  if (!activation)
    refuse(g, Where::current(), "bert_encoder: hidden_act is '" + act + "', expected gelu, gelu_new or relu");
  if (pooling != "mean_over_time" && pooling != "first_step")
    refuse(g, Where::current(), "bert_encoder: pooling is '" + pooling + "', expected mean_over_time or first_step");
  Tensor ids = g.ids("ids", g.time("time", {.max = a.size("max_position_embeddings")}));
  Tensor hidden = bert_encoder(ids, {.vocabulary = a.size("vocab_size"),
                                     .d_model = a.size("hidden_size"),
                                     .heads = a.size("num_attention_heads"),
                                     .d_ff = a.size("intermediate_size"),
                                     .depth = a.size("num_hidden_layers"),
                                     .max_len = a.size("max_position_embeddings"),
                                     .token_types = a.size("type_vocab_size", 2),
                                     .activation = activation.value_or(Activation::gelu),
                                     .eps = a.number("layer_norm_eps")});
  bool isMean = pooling == "mean_over_time";
  Tensor pooled = isMean ? mean_over_time(hidden) : first_step(hidden);
  g.output("y", a.flag("normalize") ? l2_normalize(pooled) : pooled);
  g.output("hidden", hidden);
  if (a.flag("normalize"))
    g.output(isMean ? "mean" : "first", pooled);
}

const std::vector<GoldenLayer> &goldenLayers() {
  static const Parameter masked{"masked", Parameter::flag}, causal{"causal", Parameter::flag};
  static const Parameter sequences{"sequences", Parameter::size, /*optional=*/true}; // says nothing about the graph
  static const std::vector<GoldenLayer> layers = {
      {"scaled_dot_product_attention", {{"t_q"}, {"t_k"}, {"d_k"}, {"d_v"}, masked}, declareAttention},
      {"multi_head_self_attention", {{"d_model"}, {"n_heads"}, causal, {"length"}}, declareSelfAttention},
      {"transformer_block", {{"d_model"}, {"n_heads"}, {"d_ff"}, causal, {"length"}}, declareBlock},
      {"sinusoidal_positions", {{"length"}, {"d_model"}}, declareSinusoidalPositions},
      {"learned_positions", {{"max_len"}, {"d_model"}, {"length"}}, declareLearnedPositions},
      {"transformer_encoder",
       {{"n_in"}, {"d_model"}, {"n_heads"}, {"d_ff"}, {"depth"}, {"n_out"}, {"max_len"}, causal, {"length"}, sequences},
       declareEncoder},
      {"multi_head_cross_attention",
       {{"d_model"}, {"n_heads"}, {"d_context"}, {"t_q"}, {"t_c"}, masked},
       declareCrossAttention},
      {"gated_cross_attention",
       {{"d_model"},
        {"n_heads"},
        {"d_context"},
        {"t_q"},
        {"t_c"},
        {"threshold", Parameter::number},
        {"masked", Parameter::flag, /*optional=*/true}},
       declareGatedCrossAttention},
      {"latent_cross_attention",
       {{"n_latents"}, {"d_model"}, {"n_heads"}, {"d_context"}, {"t_c"}},
       declareLatentCrossAttention},
      {"bert_encoder",
       {{"hidden_size"},
        {"num_hidden_layers"},
        {"num_attention_heads"},
        {"intermediate_size"},
        {"hidden_act", Parameter::text},
        {"layer_norm_eps", Parameter::number},
        {"max_position_embeddings"},
        {"vocab_size"},
        {"type_vocab_size", Parameter::size, /*optional=*/true},
        {"pooling", Parameter::text},
        {"normalize", Parameter::flag}},
       declareBertEncoder},
  };
  return layers;
}

llvm::Error complaint(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// A member of every item, joined.
template <typename Item, typename Text>
std::string listOf(const std::vector<Item> &items, const char *separator, Text Item::*member) {
  std::string list;
  for (const Item &item : items)
    list += (list.empty() ? "" : separator) + std::string(item.*member);
  return list;
}

bool isSize(const json &value) {
  bool isTooLarge = value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max());
  return value.is_number_integer() && !isTooLarge;
}

/// What the argument should have been; nothing where it is.
const char *whatIsExpected(const Parameter &parameter, const json &value) {
  switch (parameter.type) {
  case Parameter::size:
    return isSize(value) ? nullptr : "a whole number";
  case Parameter::flag:
    return value.is_boolean() ? nullptr : "true or false";
  case Parameter::number:
    return value.is_number() ? nullptr : "a number";
  case Parameter::text:
    return value.is_string() ? nullptr : "a text";
  }
  llvm_unreachable("a type without an expectation");
}

llvm::Error check(const GoldenLayer &layer, const json &args) {
  if (!args.is_object())
    return complaint(layer.op + ": args is " + args.type_name() + ", expected an object");
  for (const Parameter &parameter : layer.parameters) {
    auto entry = args.find(parameter.name);
    if (entry == args.end() && parameter.optional)
      continue;
    if (entry == args.end())
      return complaint(layer.op + ": args has no " + parameter.name);
    if (const char *expected = whatIsExpected(parameter, *entry))
      return complaint(layer.op + ": " + parameter.name + " is " + entry->dump() + ", expected " + expected);
  }
  for (const auto &[name, value] : args.items())
    if (llvm::none_of(layer.parameters, [&](const Parameter &parameter) { return parameter.name == name; }))
      return complaint(layer.op + ": args has the unknown entry '" + name + "'");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Graph> buildGoldenGraph(llvm::StringRef op, const json &args) {
  auto layer = llvm::find_if(goldenLayers(), [&](const GoldenLayer &known) { return known.op == op; });
  if (layer == goldenLayers().end())
    return complaint("op '" + op + "' is not one of " + listOf(goldenLayers(), ", ", &GoldenLayer::op));
  if (llvm::Error error = check(*layer, args))
    return error;

  Graph graph(op.str());
  layer->declare(graph, Arguments(args));
  // The lines of this file mean nothing to whoever wrote the case: only the messages are theirs.
  if (std::vector<GraphError> errors = graph.errors(); !errors.empty())
    return complaint(listOf(errors, "; ", &GraphError::message));
  return graph;
}

} // namespace burin
