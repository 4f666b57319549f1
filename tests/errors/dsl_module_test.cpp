// What graphs become: key lines of the printed modules, and the names of parameters.
#include "dialect/encoder.h"
#include "dsl/graph_module.h"
#include "dsl/layers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace burin;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

GraphModule moduleOf(Graph graph) {
  for (const GraphError &error : graph.errors())
    ADD_FAILURE() << error.text();
  std::optional<GraphModule> module = takeModule(std::move(graph));
  EXPECT_TRUE(module && succeeded(mlir::verify(module->module.get())));
  return std::move(*module);
}

std::string print(const GraphModule &graph, bool locations = false) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  graph.module.get()->print(stream, locations ? flags.enableDebugInfo() : flags);
  return text;
}

std::vector<std::string> parametersOf(const GraphModule &graph) {
  std::vector<std::string> names;
  graph.module.get()->walk([&](ParameterOp parameter) { names.push_back(parameter.getName().str()); });
  return names;
}

/// The ops of a block by name, without parameters and what ends it.
std::vector<std::string> opsOf(mlir::Block &block) {
  std::vector<std::string> names;
  for (mlir::Operation &op : block.without_terminator())
    if (!llvm::isa<ParameterOp>(op))
      names.push_back(op.getName().stripDialect().str());
  return names;
}

mlir::Block &forwardOf(const GraphModule &graph) {
  return graph.module.get().lookupSymbol<mlir::func::FuncOp>("forward").getBody().front();
}

/// The gates of a graph, inner ones first.
std::vector<GateOp> gatesOf(const GraphModule &graph) {
  std::vector<GateOp> gates;
  graph.module.get()->walk([&](GateOp gate) { gates.push_back(gate); });
  return gates;
}

TEST(DslModule, IsNamedAndHasNamedInputsAndOutputs) {
  Graph g("policy");
  auto time = g.time("time", {.max = 64});
  Tensor x = g.input("x", {time, 32});
  g.output("y", relu(dense(x, {.outputs = 8})));
  std::string text = print(moduleOf(std::move(g)));
  EXPECT_THAT(text, HasSubstr("module @policy {"));
  EXPECT_THAT(text, HasSubstr("func.func @forward(%arg0: tensor<?x32xf32, #encoder.rows<\"time\", 64>> "
                              "{encoder.name = \"x\"}) -> (tensor<?x8xf32, #encoder.rows<\"time\", 64>> "
                              "{encoder.name = \"y\"}) {"));
  EXPECT_THAT(text, HasSubstr("encoder.parameter \"W\" init \"normal\" : tensor<32x8xf32>"));
  EXPECT_THAT(text, HasSubstr("encoder.parameter \"b\" init \"zeros\" : tensor<8xf32>"));
  EXPECT_THAT(text, Not(HasSubstr("encoder.scope")));
  EXPECT_THAT(text, Not(HasSubstr("encoder.require_step")));
}

TEST(DslModule, PositionsAreAHiddenInputAfterTheUsersOwn) {
  Graph g("model");
  auto time = g.time("time", {.max = 16});
  Tensor a = add_positions(g.input("a", {time, 4}));
  Tensor b = learned_positions(g.input("b", {time, 4})); // an input declared after positions were first used
  g.output("y", add(a, b));
  std::string text = print(moduleOf(std::move(g)));
  EXPECT_THAT(text, HasSubstr("(%arg0: tensor<?x4xf32, #encoder.rows<\"time\", 16>> {encoder.name = \"a\"}, "
                              "%arg1: tensor<?x4xf32, #encoder.rows<\"time\", 16>> {encoder.name = \"b\"}, "
                              "%arg2: tensor<?x1xi64, #encoder.rows<\"time\", 16>> {encoder.positions}) ->"));
  EXPECT_THAT(text, HasSubstr("encoder.sinusoidal_positions %arg2, 4"));
  EXPECT_THAT(text, HasSubstr("encoder.parameter \"P\" init \"positions\" : tensor<16x4xf32>"));
}

TEST(DslModule, AMaskIsAnInputOfQueriesByKeys) {
  Graph g("model");
  auto queries = g.time("t_q", {.max = 4}), keys = g.time("t_k", {.max = 5});
  Tensor q = g.input("q", {queries, 2}), k = g.input("k", {keys, 2}), v = g.input("v", {keys, 3});
  g.output("y", scaled_dot_product_attention(q, k, v, {.mask = g.mask("mask", {queries, keys}), .scale = 0.5}));
  std::string text = print(moduleOf(std::move(g)));
  EXPECT_THAT(text,
              HasSubstr("%arg3: tensor<?x?xui8, #encoder.pairs<\"t_q\", 4, \"t_k\", 5>> {encoder.name = \"mask\"}"));
  EXPECT_THAT(text,
              HasSubstr("encoder.attention %arg0, %arg1, %arg2, mask %arg3 heads 1 scale 5.000000e-01 causal false"));
}

TEST(DslModule, ScalesScoresByTheWidthOfAHead) {
  Graph g("model");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 32});
  g.output("y", multi_head_self_attention(x, {.d_model = 32, .heads = 2, .causal = true}));
  GraphModule module = moduleOf(std::move(g));
  EXPECT_THAT(print(module), HasSubstr("heads 2 scale 2.500000e-01 causal true"));
  EXPECT_THAT(parametersOf(module), ElementsAre("W_Q", "W_K", "W_V", "W_O"));
}

TEST(DslModule, ABlockHasTwelveParametersAndNormsAfterTheAdditions) {
  Graph g("model");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 8});
  g.output("y", transformer_block(x, {.d_model = 8, .heads = 2, .d_ff = 16, .dropout = 0.25}));
  GraphModule module = moduleOf(std::move(g));
  EXPECT_THAT(parametersOf(module), ElementsAre("attn.W_Q", "attn.W_K", "attn.W_V", "attn.W_O", "ln1.gamma", "ln1.beta",
                                                "ffn1.W", "ffn1.b", "ffn2.W", "ffn2.b", "ln2.gamma", "ln2.beta"));
  EXPECT_THAT(opsOf(forwardOf(module)),
              ElementsAre("dense", "dense", "dense", "attention", "dense", "dropout", "add", "layer_norm", //
                          "dense", "relu", "dense", "dropout", "add", "layer_norm"));
}

TEST(DslModule, APreNormBlockHasTheSameParametersAndAddsToWhatIsNotNormed) {
  Graph g("model");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 8});
  g.output("y", transformer_block(x, {.d_model = 8, .heads = 2, .d_ff = 16, .norm = Norm::before}));
  GraphModule module = moduleOf(std::move(g));
  EXPECT_THAT(parametersOf(module), ElementsAre("ln1.gamma", "ln1.beta", "attn.W_Q", "attn.W_K", "attn.W_V", "attn.W_O",
                                                "ln2.gamma", "ln2.beta", "ffn1.W", "ffn1.b", "ffn2.W", "ffn2.b"));
  EXPECT_THAT(opsOf(forwardOf(module)),
              ElementsAre("layer_norm", "dense", "dense", "dense", "attention", "dense", "dropout", "add", //
                          "layer_norm", "dense", "relu", "dense", "dropout", "add"));
  std::vector<AddOp> sums(forwardOf(module).getOps<AddOp>().begin(), forwardOf(module).getOps<AddOp>().end());
  EXPECT_EQ(sums[0].getA(), forwardOf(module).getArgument(0));
  EXPECT_EQ(sums[1].getA(), sums[0].getY());
}

TEST(DslModule, ADecoderBlockAttendsToItselfThenToTheContext) {
  Graph g("model");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 8});
  Tensor context = g.input("context", {g.time("t_c", {.max = 6}), 5});
  Tensor y = decoder_block(x, context, {.d_model = 8, .heads = 2, .d_ff = 16, .window = 3});
  EXPECT_EQ(y.features(), 8);
  EXPECT_EQ(y.time().max(), 4);
  g.output("y", y);
  GraphModule module = moduleOf(std::move(g));
  EXPECT_THAT(parametersOf(module),
              ElementsAre("attn.W_Q", "attn.W_K", "attn.W_V", "attn.W_O", "ln1.gamma", "ln1.beta",     //
                          "cross.W_Q", "cross.W_K", "cross.W_V", "cross.W_O", "ln2.gamma", "ln2.beta", //
                          "ffn1.W", "ffn1.b", "ffn2.W", "ffn2.b", "ln3.gamma", "ln3.beta"));
  EXPECT_THAT(opsOf(forwardOf(module)),
              ElementsAre("dense", "dense", "dense", "attention", "dense", "dropout", "add", "layer_norm", //
                          "dense", "dense", "dense", "attention", "dense", "dropout", "add", "layer_norm", //
                          "dense", "relu", "dense", "dropout", "add", "layer_norm"));
  std::string text = print(module);
  EXPECT_THAT(text, HasSubstr("causal true window 3 {encoder.scope = \"attn\"}"));
  EXPECT_THAT(text, HasSubstr("causal false {encoder.scope = \"cross\"}"));
  EXPECT_THAT(text, HasSubstr("encoder.parameter \"cross.W_K\" init \"normal\" : tensor<5x8xf32>"));
}

TEST(DslModule, ALayerHandsItsWindowToItsAttentions) {
  Graph g("model");
  Tensor x = g.input("x", {g.time("time", {.max = 16}), 4});
  g.output("y", transformer_encoder(
                    x, {.d_model = 8, .heads = 2, .d_ff = 16, .depth = 3, .outputs = 3, .causal = true, .window = 5}));
  g.output("z", scaled_dot_product_attention(x, x, x, {.causal = false, .window = 7})); // a band without causal
  GraphModule module = moduleOf(std::move(g));
  std::vector<int64_t> windows;
  for (AttentionOp attention : forwardOf(module).getOps<AttentionOp>())
    windows.push_back(attention.getWindow().value_or(0));
  EXPECT_THAT(windows, ElementsAre(5, 5, 5, 7));
}

TEST(DslModule, AnEncoderMayHaveLearnedPositionsNormsBeforeAndNoPooling) {
  Graph g("model");
  Tensor x = g.input("x", {g.time("time", {.max = 16}), 4});
  Tensor y = transformer_encoder(x, {.d_model = 8,
                                     .heads = 2,
                                     .d_ff = 16,
                                     .depth = 1,
                                     .outputs = 3,
                                     .max_len = 20,
                                     .norm = Norm::before,
                                     .positions = Positions::learned,
                                     .pooling = Pooling::none});
  EXPECT_EQ(y.time().max(), 16); // a row per time step
  EXPECT_EQ(y.features(), 3);
  g.output("y", y);
  GraphModule module = moduleOf(std::move(g));
  std::vector<std::string> names = parametersOf(module);
  EXPECT_EQ(names.size(), 2 + 1 + 12 + 2 + 2u);
  EXPECT_THAT(names, testing::IsSupersetOf({"embed.W", "positions.P", "block0.ln1.gamma", "ln.gamma", "ln.beta"}));
  std::string text = print(module);
  EXPECT_THAT(text, HasSubstr("encoder.parameter \"positions.P\" init \"positions\""));
  EXPECT_THAT(text, HasSubstr("tensor<20x8xf32>"));
  EXPECT_THAT(text, Not(HasSubstr("mean_over_time")));
  std::vector<std::string> ops = opsOf(forwardOf(module));
  EXPECT_THAT(std::vector<std::string>(ops.end() - 3, ops.end()), ElementsAre("add", "layer_norm", "dense"));
}

TEST(DslModule, LatentsAreTheQueriesOfEverySequence) {
  Graph g("model");
  Tensor context = g.input("xc", {g.time("t_c", {.max = 16}), 6});
  Tensor y = latent_cross_attention(context, {.latents = 4, .d_model = 8, .heads = 2});
  EXPECT_FALSE(y.time());
  EXPECT_EQ(y.features(), 8);
  g.output("y", y);
  GraphModule module = moduleOf(std::move(g));
  EXPECT_THAT(parametersOf(module), ElementsAre("latents", "W_Q", "W_K", "W_V", "W_O"));
  EXPECT_THAT(opsOf(forwardOf(module)), ElementsAre("latents", "dense", "dense", "dense", "attention", "dense"));
  std::string text = print(module);
  EXPECT_THAT(text, HasSubstr("encoder.parameter \"latents\" init \"positions\" : tensor<4x8xf32>"));
  EXPECT_THAT(text, HasSubstr("-> (tensor<?x8xf32, #encoder.per_sequence<4>> {encoder.name = \"y\"})"));
}

TEST(DslModule, AGateKeepsWhatItMaySkipButNotItsParameters) {
  Graph g("model");
  auto queries = g.time("t_q", {.max = 4});
  Tensor xq = g.input("xq", {queries, 8}), xc = g.input("xc", {g.time("t_c", {.max = 6}), 5});
  Tensor signal = g.input("signal", {queries, 1});
  {
    Scope scope(g, "look");
    g.output("y", gated_cross_attention(xq, xc, signal, {.d_model = 8, .heads = 2, .threshold = 0.25}));
  }
  EXPECT_EQ(g.parameters().size(), 4u);
  GraphModule module = moduleOf(std::move(g));
  EXPECT_THAT(parametersOf(module), ElementsAre("look.W_Q", "look.W_K", "look.W_V", "look.W_O"));
  EXPECT_THAT(opsOf(forwardOf(module)), ElementsAre("gate"));
  GateOp gate = gatesOf(module)[0];
  EXPECT_THAT(opsOf(gate.getBody().front()), ElementsAre("dense", "dense", "dense", "attention", "dense"));
  EXPECT_EQ(gate.getBody().front().getOps<ParameterOp>().begin(), gate.getBody().front().getOps<ParameterOp>().end());
  EXPECT_EQ(gate->getAttrOfType<mlir::StringAttr>(attribute::scope), "look");
  std::string text = print(module);
  EXPECT_THAT(text, HasSubstr("encoder.gate %arg0, %arg2 above 2.500000e-01 {"));
  EXPECT_THAT(text, HasSubstr("encoder.yield"));
}

TEST(DslModule, GatesNestAndReadTheGraphAroundThem) {
  Graph g("model");
  auto time = g.time("time", {.max = 4});
  Tensor x = g.input("x", {time, 8}), signal = g.input("signal", {time, 1}), before = relu(x), other;
  Tensor y = gate(x, signal, 0.5, [&] {
    Tensor outer = add_positions(before); // the hidden input of positions is asked for here first
    Tensor inner = gate(outer, signal, 0.75, [&] {
      other = g.input("other", {time, 8});
      return add(outer, add(before, layer_norm(other)));
    });
    return gelu(inner);
  });
  g.output("y", add(y, add_positions(other)));
  GraphModule module = moduleOf(std::move(g));
  EXPECT_THAT(opsOf(forwardOf(module)), ElementsAre("relu", "gate", "sinusoidal_positions", "add", "add"));
  std::vector<GateOp> gates = gatesOf(module);
  EXPECT_THAT(opsOf(gates[1].getBody().front()), ElementsAre("sinusoidal_positions", "add", "gate", "gelu"));
  EXPECT_THAT(opsOf(gates[0].getBody().front()), ElementsAre("layer_norm", "add", "add"));
  EXPECT_THAT(parametersOf(module), ElementsAre("gamma", "beta"));
  EXPECT_EQ(forwardOf(module).getNumArguments(), 4u); // x, signal, other, positions
}

TEST(DslModule, AGateMayAddWhatWasThereBefore) {
  Graph g("model");
  auto time = g.time("time", {.max = 4});
  Tensor x = g.input("x", {time, 8}), signal = g.input("signal", {time, 1});
  g.output("y", dropout(gate(x, signal, 0, [&] { return x; }), 0.5));
  GraphModule module = moduleOf(std::move(g));
  EXPECT_THAT(opsOf(gatesOf(module)[0].getBody().front()), ElementsAre());
}

TEST(DslModule, AnEncoderNamesParametersAndOpsByScope) {
  Graph g("model");
  Tensor x = g.input("x", {g.time("time", {.max = 16}), 4});
  g.output("y",
           transformer_encoder(x, {.d_model = 8, .heads = 2, .d_ff = 16, .depth = 2, .outputs = 3, .causal = true}));
  GraphModule module = moduleOf(std::move(g));
  std::vector<std::string> names = parametersOf(module);
  EXPECT_EQ(names.size(), 4 + 2 * 12u);
  EXPECT_THAT(names, testing::IsSupersetOf({"embed.W", "embed.b", "block0.attn.W_Q", "block0.ln1.gamma",
                                            "block1.ffn1.W", "block1.ln2.beta", "head.W", "head.b"}));
  std::vector<std::string> scopes;
  module.module.get()->walk([&](AttentionOp op) {
    scopes.push_back(op->getAttrOfType<mlir::StringAttr>(attribute::scope).str());
    EXPECT_TRUE(op.getCausal());
  });
  EXPECT_THAT(scopes, ElementsAre("block0.attn", "block1.attn"));
  EXPECT_THAT(print(module), HasSubstr("-> (tensor<?x3xf32, #encoder.per_sequence> {encoder.name = \"y\"})"));
}

TEST(DslModule, EveryOpHasTheUsersLine) {
  Graph g("model");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 8});
  // clang-format off
  Tensor y = transformer_block(x, {.d_model = 8, .heads = 2, .d_ff = 16}); const unsigned line = __LINE__;
  // clang-format on
  g.output("y", y);
  GraphModule module = moduleOf(std::move(g));
  module.module.get()->walk([&](mlir::Operation *op) {
    auto place = llvm::dyn_cast<mlir::FileLineColLoc>(op->getLoc());
    ASSERT_TRUE(place);
    EXPECT_EQ(place.getFilename().str(), __FILE__);
    if (llvm::isa<EncoderDialect>(op->getDialect())) {
      EXPECT_EQ(place.getLine(), line);
    }
  });
}

TEST(DslModule, ARequiredStepIsSaidToThePasses) {
  Graph g("model");
  g.require_step();
  g.output("y", relu(g.input("x", {g.time("time", {.max = 4}), 8})));
  EXPECT_THAT(print(moduleOf(std::move(g))), HasSubstr("module @model attributes {encoder.require_step} {"));
}

TEST(DslModule, AGraphWithErrorsHasNone) {
  Graph g("model");
  g.output("y", relu(g.input("x", {g.time("time", {.max = 0}), 8})));
  EXPECT_FALSE(takeModule(std::move(g)));
}

} // namespace
