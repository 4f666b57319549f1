// Graphs of golden cases: every layer of the table builds, and a case that does not fit it is refused by name.
#include "dsl/golden_layers.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

using namespace burin;
using nlohmann::json;

namespace {

/// What building says: nothing where it succeeds.
std::string complaintAbout(const char *op, const char *args) {
  llvm::Expected<Graph> graph = buildGoldenGraph(op, json::parse(args));
  if (graph)
    return "";
  return llvm::toString(graph.takeError());
}

struct Case {
  const char *name, *op, *args;
  std::string complaint;
};

void PrintTo(const Case &row, std::ostream *stream) { *stream << row.name; }

const Case cases[] = {
    {"attention", "scaled_dot_product_attention", R"({"t_q": 4, "t_k": 5, "d_k": 8, "d_v": 6, "masked": true})", ""},
    {"self_attention", "multi_head_self_attention", R"({"d_model": 24, "n_heads": 3, "causal": false, "length": 7})",
     ""},
    {"block", "transformer_block", R"({"d_model": 24, "n_heads": 3, "d_ff": 50, "causal": true, "length": 9})", ""},
    {"sinusoidal", "sinusoidal_positions", R"({"length": 4, "d_model": 4})", ""},
    {"learned", "learned_positions", R"({"max_len": 4, "d_model": 3, "length": 2})", ""},
    {"encoder", "transformer_encoder",
     R"({"n_in": 4, "d_model": 8, "n_heads": 2, "d_ff": 16, "depth": 1, "n_out": 3, "max_len": 16, "causal": true,
         "length": 5, "sequences": 2})",
     ""},
    {"cross_attention", "multi_head_cross_attention",
     R"({"d_model": 8, "n_heads": 2, "d_context": 6, "t_q": 3, "t_c": 5, "masked": true})", ""},
    {"gated", "gated_cross_attention",
     R"({"d_model": 8, "n_heads": 2, "d_context": 6, "t_q": 4, "t_c": 5, "threshold": 0.25})", ""},
    {"gated_and_masked", "gated_cross_attention",
     R"({"d_model": 8, "n_heads": 2, "d_context": 6, "t_q": 4, "t_c": 5, "threshold": -1, "masked": true})", ""},
    {"latent", "latent_cross_attention", R"({"n_latents": 4, "d_model": 16, "n_heads": 4, "d_context": 6, "t_c": 11})",
     ""},
    {"bert", "bert_encoder",
     R"({"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12,
         "hidden_act": "gelu_new", "layer_norm_eps": 1e-12, "max_position_embeddings": 16, "vocab_size": 5,
         "pooling": "first_step", "normalize": true})",
     ""},
    {"bert_activation", "bert_encoder",
     R"({"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12,
         "hidden_act": "swish", "layer_norm_eps": 1e-12, "max_position_embeddings": 16, "vocab_size": 5,
         "pooling": "max", "normalize": true})",
     "bert_encoder: hidden_act is 'swish', expected gelu, gelu_new or relu; bert_encoder: pooling is 'max', expected "
     "mean_over_time or first_step"},
    {"unknown_op", "gated_mlp", "{}",
     "op 'gated_mlp' is not one of scaled_dot_product_attention, multi_head_self_attention, transformer_block, "
     "sinusoidal_positions, learned_positions, transformer_encoder, multi_head_cross_attention, gated_cross_attention, "
     "latent_cross_attention, bert_encoder"},
    {"missing_entry", "sinusoidal_positions", R"({"length": 4})", "sinusoidal_positions: args has no d_model"},
    {"unknown_entry", "sinusoidal_positions", R"({"length": 4, "d_model": 4, "width": 2})",
     "sinusoidal_positions: args has the unknown entry 'width'"},
    {"not_an_object", "sinusoidal_positions", "[4, 4]", "sinusoidal_positions: args is array, expected an object"},
    {"fraction", "sinusoidal_positions", R"({"length": 4, "d_model": 4.5})",
     "sinusoidal_positions: d_model is 4.5, expected a whole number"},
    {"beyond_64_bits", "sinusoidal_positions", R"({"length": 18446744073709551615, "d_model": 4})",
     "sinusoidal_positions: length is 18446744073709551615, expected a whole number"},
    {"flag_as_number", "multi_head_self_attention", R"({"d_model": 8, "n_heads": 2, "causal": 1, "length": 7})",
     "multi_head_self_attention: causal is 1, expected true or false"},
    {"threshold_as_text", "gated_cross_attention",
     R"({"d_model": 8, "n_heads": 2, "d_context": 6, "t_q": 4, "t_c": 5, "threshold": "low"})",
     "gated_cross_attention: threshold is \"low\", expected a number"},
    {"context_of_nothing", "latent_cross_attention",
     R"({"n_latents": 4, "d_model": 16, "n_heads": 4, "d_context": 0, "t_c": 11})",
     "input: 'xc' has 0 features, expected at least 1"},
    {"heads", "multi_head_self_attention", R"({"d_model": 10, "n_heads": 3, "causal": true, "length": 7})",
     "multi_head_self_attention: 3 heads do not divide d_model 10"},
    {"length_beyond_max_len", "learned_positions", R"({"max_len": 2, "d_model": 3, "length": 4})",
     "learned_positions: a sequence can have 4 rows, but max_len is 2"},
    {"encoder_length_beyond_max_len", "transformer_encoder",
     R"({"n_in": 4, "d_model": 8, "n_heads": 2, "d_ff": 16, "depth": 1, "n_out": 3, "max_len": 16, "causal": true,
         "length": 17})",
     "transformer_encoder: length is 17, but max_len is 16"},
};

class GoldenGraph : public testing::TestWithParam<Case> {};

TEST_P(GoldenGraph, IsBuiltOrRefusedByName) {
  EXPECT_EQ(complaintAbout(GetParam().op, GetParam().args), GetParam().complaint);
}

INSTANTIATE_TEST_SUITE_P(OfEveryLayer, GoldenGraph, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &row) { return std::string(row.param.name); });

} // namespace
