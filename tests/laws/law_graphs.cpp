#include "law_graphs.h"
#include "dsl/layers.h"
#include "llvm/ADT/StringExtras.h"

namespace burin::laws {

namespace {

constexpr int64_t longest = 70; // more than two tiles of keys

/// Every graph is a model of the same name, so that kernels that are equal are compiled once.
struct Builder {
  Graph graph{"law"};
  TimeAxis time = graph.time("time", {.max = longest});
  int inputs = 0, outputs = 0, parameters = 0;

  Tensor input(int64_t features) { return input(time, features); }
  Tensor input(TimeAxis axis, int64_t features) {
    return graph.input("x" + std::to_string(inputs++), {axis, features});
  }
  void output(Tensor value) { graph.output("y" + std::to_string(outputs++), value); }
  std::string unique(const std::string &name) { return name + std::to_string(parameters++); }

  Tensor project(Tensor x, int64_t features, bool bias = true, Layout layout = Layout::in_out) {
    std::vector<int64_t> shape{x.features(), features};
    if (layout == Layout::out_in)
      std::swap(shape[0], shape[1]);
    Tensor weight = parameter(graph, unique("W"), shape, Init::normal);
    return dense(x, weight, bias ? parameter(graph, unique("b"), {features}, Init::zeros) : Tensor(), layout);
  }
  Tensor norm(Tensor x, double eps = 1e-5) {
    Tensor gamma = parameter(graph, unique("gamma"), {x.features()}, Init::ones);
    return layer_norm(x, gamma, parameter(graph, unique("beta"), {x.features()}, Init::zeros), eps);
  }
  Graph take() { return std::move(graph); }
};

Graph denseGraph() {
  Builder b;
  b.output(b.project(b.input(1), 1));
  b.output(b.project(b.input(1), 33, true, Layout::out_in));
  b.output(b.project(b.input(3), 5, false));
  b.output(b.project(b.input(5), 3, false, Layout::out_in));
  b.output(b.project(b.input(10), 48));
  b.output(b.project(b.input(33), 10));
  b.output(b.project(b.input(48), 1));
  b.output(b.project(b.input(48), 33, true, Layout::out_in));
  return b.take();
}

Graph pointwiseGraph() {
  Builder b;
  b.output(relu(b.input(1)));
  b.output(relu(b.input(33)));
  b.output(add(b.input(5), b.input(5)));
  b.output(add(b.input(48), b.input(48)));
  b.output(slice(b.input(33), 3, 10));
  b.output(gelu(b.input(1)));
  b.output(gelu(b.input(33)));
  b.output(gelu_tanh(b.input(1)));
  b.output(gelu_tanh(b.input(33)));
  b.output(add_row(b.input(5), parameter(b.graph, "rows", {3, 5}, Init::normal), 2));
  Tensor x = b.input(10); // read as a whole and in part
  b.output(relu(add(slice(x, 0, 5), slice(x, 5, 5))));
  b.output(add(x, relu(dropout(x, 0.5))));
  return b.take();
}

Graph normGraph() {
  Builder b;
  for (int64_t features : {1, 3, 5, 10, 33, 48})
    b.output(b.norm(b.input(features)));
  return b.take();
}

Graph normalizeGraph() {
  Builder b;
  for (int64_t features : {1, 3, 5, 33, 48})
    b.output(l2_normalize(b.input(features)));
  b.output(l2_normalize(b.project(b.input(10), 33)));
  return b.take();
}

Graph embeddingGraph() {
  Builder b;
  Tensor ids = b.graph.ids("ids", b.time), others = b.graph.ids("others", b.time);
  auto table = [&](int64_t rows, int64_t features) {
    return parameter(b.graph, b.unique("table"), {rows, features}, Init::normal);
  };
  b.output(embedding(ids, table(7, 1)));
  b.output(b.norm(add_row(add(embedding(ids, table(9, 33)), b.input(33)), table(2, 33), 1)));
  b.output(b.project(embedding(others, table(300, 5)), 10));
  return b.take();
}

Graph fusedGraph() {
  Builder b;
  b.output(relu(b.project(b.input(3), 10)));
  Tensor x = b.input(5);
  b.output(b.norm(add(x, b.project(relu(b.project(x, 33)), 5))));
  Tensor wide = b.input(33);
  b.output(b.project(b.norm(add(wide, b.project(wide, 33, false)), 1e-12), 48));
  Tensor merged = b.input(10); // two contracts of one input become one
  b.output(add(relu(b.project(merged, 33)), b.project(merged, 33)));
  b.output(b.norm(b.norm(b.input(3))));
  b.output(gelu(b.project(b.input(3), 33)));
  b.output(gelu_tanh(b.project(b.input(3), 33)));
  return b.take();
}

Graph positionsGraph() {
  Builder b;
  b.output(add(b.input(2), sinusoidal_positions(b.time, 2)));
  b.output(add(b.project(b.input(3), 48), sinusoidal_positions(b.time, 48)));
  b.output(sinusoidal_positions(b.time, 10));
  b.output(add(b.input(33), learned_positions(b.time, parameter(b.graph, "P0", {longest, 33}, Init::positions))));
  b.output(learned_positions(b.time, parameter(b.graph, "P1", {longest + 3, 1}, Init::positions)));
  return b.take();
}

Graph meanGraph() {
  Builder b;
  b.output(mean_over_time(b.input(1)));
  b.output(mean_over_time(relu(b.project(b.input(5), 33))));
  b.output(b.norm(b.project(mean_over_time(b.input(48)), 10)));
  return b.take();
}

Graph firstGraph() {
  Builder b;
  b.output(first_step(b.input(1)));
  b.output(l2_normalize(first_step(gelu(b.project(b.input(5), 33)))));
  b.output(b.project(first_step(b.input(48)), 10));
  return b.take();
}

/// q, k and v of their own; d_v is not d_k.
void attend(Builder &b, TimeAxis queries, TimeAxis keys, int64_t d_k, int64_t d_v, AttentionOptions options) {
  Tensor q = b.input(queries, d_k), k = b.input(keys, d_k), v = b.input(keys, d_v);
  b.output(attention(q, k, v, options));
}

void attendAtOddWidths(Builder &b, TimeAxis queries, TimeAxis keys, AttentionOptions options) {
  const int64_t sizes[][3] = {{1, 1, 3}, {1, 33, 5}, {2, 10, 48}, {3, 33, 3}, {3, 48, 33}}; // heads, d_k, d_v
  for (auto [heads, d_k, d_v] : sizes) {
    options.heads = heads;
    attend(b, queries, keys, d_k, d_v, options);
  }
}

Graph attentionGraph() {
  Builder b;
  attendAtOddWidths(b, b.time, b.time, {});
  return b.take();
}

Graph causalAttentionGraph() {
  Builder b;
  attendAtOddWidths(b, b.time, b.time, {.causal = true});
  return b.take();
}

Graph maskedAttentionGraph() {
  Builder b;
  TimeAxis context = b.graph.time("context", {.max = longest});
  Tensor mask = b.graph.mask("mask", {b.time, context});
  attend(b, b.time, context, 10, 33, {.heads = 1, .mask = mask, .scale = 0.7});
  attend(b, b.time, context, 33, 3, {.heads = 3, .causal = true, .mask = mask});
  attend(b, b.time, context, 5, 10, {.heads = 1, .causal = true}); // a query may see no key
  attend(b, b.time, context, 48, 10, {.heads = 2});
  return b.take();
}

template <int64_t width, int64_t heads, bool causal> Graph selfAttentionGraph() {
  Builder b;
  b.output(multi_head_self_attention(b.input(width), {.d_model = width, .heads = heads, .causal = causal}));
  return b.take();
}

template <bool causal> Graph blockGraph() {
  Builder b;
  Tensor x = b.input(10);
  b.output(transformer_block(x, {.d_model = 10, .heads = 2, .d_ff = 33, .causal = causal, .dropout = 0.1}));
  return b.take();
}

Graph causalEncoderGraph() {
  Builder b;
  b.output(transformer_encoder(b.input(5),
                               {.d_model = 48, .heads = 3, .d_ff = 33, .depth = 2, .outputs = 3, .causal = true}));
  return b.take();
}

/// The same encoder, in a graph too large for a step of one kernel.
Graph separateEncoderGraph() {
  Builder b;
  b.output(transformer_encoder(b.input(5),
                               {.d_model = 48, .heads = 3, .d_ff = 33, .depth = 2, .outputs = 3, .causal = true}));
  b.output(b.project(b.input(400), 400, false));
  return b.take();
}

Graph bertGraph() {
  Builder b;
  Tensor ids = b.graph.ids("ids", b.time);
  Tensor rows = bert_encoder(
      ids, {.vocabulary = 11, .d_model = 24, .heads = 3, .d_ff = 33, .depth = 2, .max_len = longest + 1});
  b.output(l2_normalize(mean_over_time(rows)));
  b.output(first_step(rows));
  return b.take();
}

Graph encoderGraph() {
  Builder b;
  Tensor x = b.input(1);
  b.output(transformer_encoder(x, {.d_model = 10, .heads = 1, .d_ff = 5, .depth = 1, .outputs = 1}));
  return b.take();
}

} // namespace

llvm::ArrayRef<LawGraph> lawGraphs() {
  static const std::vector<LawGraph> graphs = {
      {.name = "dense", .build = denseGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "pointwise", .build = pointwiseGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "layer_norm", .build = normGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "l2_normalize", .build = normalizeGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "embedding", .build = embeddingGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "fused", .build = fusedGraph, .streams = true, .rowWise = true, .unordered = true},
      {.name = "positions", .build = positionsGraph, .streams = true},
      {.name = "mean_over_time", .build = meanGraph, .streams = true, .unordered = true},
      {.name = "first_step", .build = firstGraph, .streams = true},
      {.name = "attention", .build = attentionGraph, .unordered = true},
      {.name = "causal_attention", .build = causalAttentionGraph, .streams = true},
      {.name = "masked_attention", .build = maskedAttentionGraph},
      {.name = "self_attention", .build = selfAttentionGraph<33, 3, false>, .unordered = true},
      {.name = "causal_self_attention", .build = selfAttentionGraph<10, 2, true>, .streams = true},
      {.name = "block", .build = blockGraph<false>, .unordered = true},
      {.name = "causal_block", .build = blockGraph<true>, .streams = true},
      {.name = "encoder", .build = encoderGraph},
      {.name = "bert_encoder", .build = bertGraph},
      {.name = "causal_encoder", .build = causalEncoderGraph, .streams = true},
      {.name = "causal_encoder_in_separate_kernels", .build = separateEncoderGraph, .streams = true},
  };
  return graphs;
}

std::vector<std::vector<int64_t>> oddLengths(const GraphSignature &signature) {
  if (signature.axes.size() == 1) {
    std::vector<std::vector<int64_t>> lengths;
    for (int64_t length : {0, 1, 2, 3, 7, 9, 17, 33, 70})
      lengths.push_back({length});
    return lengths;
  }
  return {{0, 0},  {0, 5},  {5, 0},  {1, 1},  {1, 7},   {3, 2},  {2, 3},
          {9, 17}, {17, 9}, {7, 33}, {33, 1}, {33, 70}, {70, 33}};
}

std::vector<LawCase> lawCases(llvm::function_ref<bool(const LawGraph &)> concerns) {
  std::vector<LawCase> cases;
  for (const LawGraph &graph : lawGraphs())
    for (const Target &target : allTargets())
      if (concerns(graph))
        cases.push_back({&graph, &target});
  return cases;
}

/// GoogleTest wants names of letters, digits and underscores.
static std::string identifier(std::string name) {
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  return name;
}

void PrintTo(const LawCase &row, std::ostream *stream) {
  *stream << row.graph->name << " on " << row.target->name.str();
}

std::string nameOf(const testing::TestParamInfo<LawCase> &info) {
  return identifier(info.param.graph->name + "_on_" + info.param.target->name.str());
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const Target &target : allTargets())
    names.push_back(target.name.str());
  return names;
}

std::string nameOfTarget(const testing::TestParamInfo<std::string> &info) { return identifier(info.param); }

const LawGraph &lawGraph(llvm::StringRef name) {
  for (const LawGraph &graph : lawGraphs())
    if (graph.name == name)
      return graph;
  throw std::runtime_error("the table has no graph " + name.str());
}

const LawModel &LawModel::of(const LawGraph &graph, const Target &target) {
  struct Entry {
    std::unique_ptr<LawModel> model;
    std::string error;
  };
  static std::map<std::pair<std::string, std::string>, Entry> models;
  auto [place, isNew] = models.try_emplace({graph.name, target.name.str()});
  Entry &entry = place->second;
  if (isNew) {
    try {
      entry.model = std::make_unique<LawModel>(graph, target);
    } catch (const std::exception &error) {
      entry.error = error.what();
    }
  }
  if (!entry.model)
    throw std::runtime_error(graph.name + " on " + target.name.str() + ": " + entry.error +
                             "\nrerun: " + rerunCommand());
  return *entry.model;
}

void Law::SetUp() {
  if (!runsHere(target()))
    GTEST_SKIP() << target().name.str() << ": this machine cannot run its code";
  ASSERT_EQ(opened().hasStep(), law().streams) << law().name << " on " << target().name.str();
}

Case Law::place(const std::string &entry, uint64_t seed, int output) const {
  std::string op = law().name;
  if (output >= 0)
    op += " (output " + signature().outputs[output].name + ")";
  return {op, target().name.str(), entry, seed};
}

} // namespace burin::laws
