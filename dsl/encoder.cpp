// The public functions: each hands its operands and attributes to the graph's body, which knows MLIR.
#include "dsl/encoder.h"
#include "dsl/graph_body.h"
#include <cmath>

using namespace mlir;

namespace burin {

std::string GraphError::text() const {
  std::string place = file + ":" + std::to_string(line) + ": ";
  return place + "error: " + message + (note.empty() ? "" : "\n" + place + "note: " + note);
}

int64_t TimeAxis::max() const { return *this ? graph_->rowsOfAxis(*this).getMax() : 0; }

int64_t Tensor::features() const {
  if (!*this)
    return 0;
  auto type = cast<RankedTensorType>(graph_->typeOf(*this));
  return type.isDynamicDim(type.getRank() - 1) ? 0 : featuresOf(type); // a mask's columns are another axis' rows
}

TimeAxis Tensor::time() const { return GraphBody::axisOf(*this); }

Graph::Graph(std::string name, Where where) : body_(std::make_unique<GraphBody>(std::move(name), where)) {}
Graph::Graph(Graph &&) noexcept = default;
Graph &Graph::operator=(Graph &&) noexcept = default;
Graph::~Graph() = default;

TimeAxis Graph::time(std::string name, TimeOptions options, Where where) {
  return body_->time(name, options.max, where);
}
Tensor Graph::input(std::string name, RowsShape shape, Where where) { return body_->input(name, shape, where); }
Tensor Graph::mask(std::string name, MaskShape shape, Where where) { return body_->mask(name, shape, where); }
Tensor Graph::ids(std::string name, TimeAxis time, Where where) { return body_->ids(name, time, where); }
void Graph::output(std::string name, Tensor value, Where where) { body_->output(name, value, where); }
void Graph::require_step() { body_->requireStep(); }
const std::string &Graph::name() const { return body_->name(); }
std::vector<DeclaredParameter> Graph::parameters() const { return body_->parameters(); }
std::vector<GraphError> Graph::errors() const { return body_->errors(); }

GraphOf::GraphOf(const Graph &graph) : graph_(GraphBody::of(graph)) {}
GraphOf::GraphOf(Tensor tensor) : graph_(GraphBody::of(tensor)) {}
GraphOf::GraphOf(TimeAxis axis) : graph_(GraphBody::of(axis)) {}
GraphOf::GraphOf(const Scope &scope) : graph_(scope.graph_.graph_) {}

Scope::Scope(GraphOf graph, std::string name, Where where) : graph_(graph) {
  if (GraphBody *body = GraphBody::of(graph_))
    body->enterScope(name, where);
}

Scope::~Scope() {
  if (GraphBody *body = GraphBody::of(graph_))
    body->leaveScope();
}

Tensor parameter(GraphOf graph, std::string name, std::vector<int64_t> shape, Init init, Where where) {
  GraphBody *body = GraphBody::of(graph);
  return body ? body->parameter(name, shape, init, where) : Tensor();
}

Tensor refuse(GraphOf graph, Where where, std::string message, std::string note) {
  GraphBody *body = GraphBody::of(graph);
  return body ? body->refuse(where, std::move(message), std::move(note)) : Tensor();
}

Tensor dense(Tensor x, Tensor weight, Tensor bias, Layout layout, Where where) {
  return GraphBody::append<DenseOp>(
      where,
      {{"x", x}, {"the weight", weight, Role::parameter}, {"the bias", bias, Role::parameter, /*optional=*/true}},
      [&](DenseOp::Properties &properties, Builder &builder) {
        if (layout == Layout::out_in)
          properties.out_in = builder.getUnitAttr();
      });
}

Tensor embedding(Tensor ids, Tensor table, Where where) {
  return GraphBody::append<EmbeddingOp>(where, {{"ids", ids, Role::ids}, {"the table", table, Role::parameter}});
}

Tensor add(Tensor a, Tensor b, Where where) { return GraphBody::append<AddOp>(where, {{"a", a}, {"b", b}}); }

Tensor add_row(Tensor x, Tensor table, int64_t row, Where where) {
  return GraphBody::append<AddRowOp>(
      where, {{"x", x}, {"the table", table, Role::parameter}},
      [&](AddRowOp::Properties &properties, Builder &builder) { properties.row = builder.getI64IntegerAttr(row); });
}

Tensor relu(Tensor x, Where where) { return GraphBody::append<ReluOp>(where, {{"x", x}}); }

Tensor gelu(Tensor x, Where where) { return GraphBody::append<GeluOp>(where, {{"x", x}}); }

Tensor gelu_tanh(Tensor x, Where where) { return GraphBody::append<GeluTanhOp>(where, {{"x", x}}); }

Tensor l2_normalize(Tensor x, Where where) { return GraphBody::append<L2NormalizeOp>(where, {{"x", x}}); }

Tensor slice(Tensor x, int64_t first, int64_t size, Where where) {
  return GraphBody::append<SliceOp>(where, {{"x", x}}, [&](SliceOp::Properties &properties, Builder &builder) {
    properties.first = builder.getI64IntegerAttr(first);
    properties.size = builder.getI64IntegerAttr(size);
  });
}

Tensor dropout(Tensor x, double p, Where where) {
  return GraphBody::append<DropoutOp>(where, {{"x", x}}, [&](DropoutOp::Properties &properties, Builder &builder) {
    properties.p = builder.getF64FloatAttr(p);
  });
}

Tensor layer_norm(Tensor x, Tensor gamma, Tensor beta, double eps, Where where) {
  return GraphBody::append<LayerNormOp>(
      where, {{"x", x}, {"gamma", gamma, Role::parameter}, {"beta", beta, Role::parameter}},
      [&](LayerNormOp::Properties &properties, Builder &builder) { properties.eps = builder.getF64FloatAttr(eps); });
}

Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions &options, Where where) {
  return GraphBody::append<AttentionOp>(
      where, {{"q", q}, {"k", k}, {"v", v}, {"the mask", options.mask, Role::mask, /*optional=*/true}},
      [&](AttentionOp::Properties &properties, Builder &builder) {
        double keyWidth = double(q.features()) / double(options.heads);
        properties.heads = builder.getI64IntegerAttr(options.heads);
        properties.scale = builder.getF64FloatAttr(options.scale.value_or(1 / std::sqrt(keyWidth)));
        properties.causal = builder.getBoolAttr(options.causal);
        if (options.window)
          properties.window = builder.getI64IntegerAttr(*options.window);
      });
}

Tensor sinusoidal_positions(TimeAxis time, int64_t features, Where where) {
  return GraphBody::append<SinusoidalPositionsOp>(where,
                                                  {{"the time axis", GraphBody::positions(time), Role::positions}},
                                                  [&](SinusoidalPositionsOp::Properties &properties, Builder &builder) {
                                                    properties.features = builder.getI64IntegerAttr(features);
                                                  });
}

Tensor learned_positions(TimeAxis time, Tensor table, Where where) {
  return GraphBody::append<LearnedPositionsOp>(
      where, {{"the time axis", GraphBody::positions(time), Role::positions}, {"the table", table, Role::parameter}});
}

Tensor latents(Tensor table, Where where) {
  return GraphBody::append<LatentsOp>(where, {{"the table", table, Role::parameter}});
}

Tensor gate(Tensor x, Tensor signal, double threshold, const std::function<Tensor()> &update, Where where) {
  return GraphBody::gate(where, x, signal, threshold, update);
}

Tensor mean_over_time(Tensor x, Where where) { return GraphBody::append<MeanOverTimeOp>(where, {{"x", x}}); }

Tensor first_step(Tensor x, Where where) { return GraphBody::append<FirstStepOp>(where, {{"x", x}}); }

} // namespace burin
