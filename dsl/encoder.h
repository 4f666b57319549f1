// The graph language: an encoder is declared by calling these functions, one for each op of the dialect.
//
//     Graph build() {
//       Graph g("policy");
//       auto time = g.time("time", {.max = 64});
//       Tensor x = g.input("x", {time, 32});
//       Tensor W = parameter(g, "W", {32, 8}, Init::normal);
//       g.output("y", relu(dense(x, W)));
//       return g;
//     }
//
// dsl/layers.h has what encoders are usually made of, written with nothing but this header; a layer of your own looks
// the same.
//
// Errors: nothing here throws or stops. What is wrong is kept in the graph, at the line of the program that said it,
// and the tensor that would have come out is null; whatever is made of a null tensor is null as well, without another
// word. So one run reports every independent mistake. Every function takes the place it was called from as its last
// argument, which the compiler fills in; a layer passes its own caller's place on.
//
// Rejected: exceptions, which end a run at the first mistake; macros or expression templates, which report it in
// machinery; MLIR's own headers here, which would cost every program that declares a graph six seconds of compile time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace burin {

class GraphBody;

/// A place in the program that declares a graph.
using Where = std::source_location;

/// A mistake in a graph, and what to do about it (which may be empty).
struct GraphError {
  std::string file;
  int line = 0;
  std::string message, note;

  /// "policy.cpp:12: error: …", and a line "policy.cpp:12: note: …" where there is a note.
  std::string text() const;
};

/// The axis along which the rows of a sequence lie. A small value; copies mean the same axis.
class TimeAxis {
public:
  TimeAxis() = default;
  explicit operator bool() const { return id_ >= 0; }
  /// Most rows of one sequence; 0 when null.
  int64_t max() const;

private:
  friend class GraphBody;
  TimeAxis(GraphBody *graph, int id) : graph_(graph), id_(id) {}
  GraphBody *graph_ = nullptr;
  int id_ = -1;
};

/// A value of a graph: rows of features, ids, a parameter, or a mask. A small value; copies mean the same value. It
/// refers to its graph and must not outlive it.
///
/// `Tensor()` stands for an operand that is not given, such as no bias. A tensor that an error left behind is null too,
/// but remembers its graph, so that what is made of it stays silent.
class Tensor {
public:
  Tensor() = default;
  explicit operator bool() const { return id_ >= 0; }
  /// Number of columns (of a vector: of values); 0 when null.
  int64_t features() const;
  /// What the rows count; null for a parameter, a mask, latents, or rows per sequence.
  TimeAxis time() const;

private:
  friend class GraphBody;
  Tensor(GraphBody *graph, int id) : graph_(graph), id_(id) {}
  GraphBody *graph_ = nullptr;
  int id_ = -1;
};

struct TimeOptions {
  int64_t max = 0; // most rows of one sequence: every buffer's size follows from it
};

/// [time, features], float32.
struct RowsShape {
  TimeAxis time;
  int64_t features = 0;
};

/// [query, key], uint8: 1 where the query may see the key.
struct MaskShape {
  TimeAxis query, key;
};

/// A weight that a graph asks its file for.
struct DeclaredParameter {
  std::string name; // scopes included
  std::vector<int64_t> shape;
};

/// A model under declaration.
class Graph {
public:
  /// The name is a C identifier: the model's functions begin with it.
  explicit Graph(std::string name, Where where = Where::current());
  Graph(Graph &&) noexcept;
  Graph &operator=(Graph &&) noexcept;
  ~Graph();

  TimeAxis time(std::string name, TimeOptions options, Where where = Where::current());
  Tensor input(std::string name, RowsShape shape, Where where = Where::current());
  Tensor mask(std::string name, MaskShape shape, Where where = Where::current());
  /// Token ids, int32, one for each row; what `embedding` looks up.
  Tensor ids(std::string name, TimeAxis time, Where where = Where::current());
  void output(std::string name, Tensor value, Where where = Where::current());
  /// A graph that has no `step`, because an op in it looks ahead, becomes an error.
  void require_step();

  const std::string &name() const;
  /// The weights so far, in order of declaration.
  std::vector<DeclaredParameter> parameters() const;
  /// What is wrong so far, in order of declaration.
  std::vector<GraphError> errors() const;

private:
  friend class GraphBody;
  std::unique_ptr<GraphBody> body_;
};

class Scope;

/// The graph that something is of; for functions that add to a graph, whatever of it the caller has at hand.
class GraphOf {
public:
  GraphOf(const Graph &graph);
  GraphOf(Tensor tensor);
  GraphOf(TimeAxis axis);
  GraphOf(const Scope &scope);

private:
  friend class GraphBody;
  GraphBody *graph_;
};

/// While it lives, names of parameters begin with `name` and a dot; scopes nest: `block0.attn.W_Q`. State values are
/// named after the scope of their op in the same way.
class Scope {
public:
  Scope(GraphOf graph, std::string name, Where where = Where::current());
  ~Scope();
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  friend class GraphOf;
  GraphOf graph_;
};

/// How `burin init` fills a parameter.
enum class Init {
  normal,   // N(0, 1/fan_in); the first dimension is fan_in
  zeros,    //
  ones,     //
  positions // N(0, 0.02)
};

/// A weight of the model, [features] or [in, out]. Its full name, scopes included, is the tensor's name in the weights
/// file.
Tensor parameter(GraphOf graph, std::string name, std::vector<int64_t> shape, Init init,
                 Where where = Where::current());

/// Reports a mistake and returns the null tensor that a layer then returns. Says layer, found and expected, in lower
/// case: "my_layer: 3 heads do not divide d_model 10". Saying the same at the same line again reports nothing.
Tensor refuse(GraphOf graph, Where where, std::string message, std::string note = "");

// The ops. Shapes are [rows, features] where nothing else is said.

/// Order of a weight's dimensions.
enum class Layout { in_out, out_in };

/// x W + b, row by row; W is [in, out] (or [out, in]), b is [out].
Tensor dense(Tensor x, Tensor weight, Tensor bias = {}, Layout layout = Layout::in_out, Where where = Where::current());

/// Row `id` of the table for each id; the table is [vocabulary, features]. Ids outside it are an error at run time.
Tensor embedding(Tensor ids, Tensor table, Where where = Where::current());

/// a + b, elementwise.
Tensor add(Tensor a, Tensor b, Where where = Where::current());

/// x + table[row], the same row of the table [rows, features] to every row of x.
Tensor add_row(Tensor x, Tensor table, int64_t row, Where where = Where::current());

/// max(x, 0), elementwise.
Tensor relu(Tensor x, Where where = Where::current());

/// x (1 + erf(x / sqrt(2))) / 2, elementwise.
Tensor gelu(Tensor x, Where where = Where::current());

/// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, elementwise: the approximation that models call gelu_new.
Tensor gelu_tanh(Tensor x, Where where = Where::current());

/// Columns [first, first + size) of x.
Tensor slice(Tensor x, int64_t first, int64_t size, Where where = Where::current());

/// x: Burin compiles inference. Says how the model was trained, and checks that 0 <= p < 1.
Tensor dropout(Tensor x, double p, Where where = Where::current());

/// (x - mean) / sqrt(variance + eps) gamma + beta over the features of each row; gamma and beta are [features].
Tensor layer_norm(Tensor x, Tensor gamma, Tensor beta, double eps, Where where = Where::current());

/// x scaled to length 1, row by row; a row of zeros stays zero.
Tensor l2_normalize(Tensor x, Where where = Where::current());

/// What a query sees is the AND of causal, window and mask. Query row i of t_q is at key p = t_k - t_q + i.
struct AttentionOptions {
  int64_t heads = 1;                  // head h reads features [h d/heads, (h+1) d/heads)
  bool causal = false;                // it sees no key after p
  std::optional<int64_t> window = {}; // it sees only keys after p - window: with causal, p and the window - 1 before it
  Tensor mask = {};                   // [queries, keys] from Graph::mask
  std::optional<double> scale = {};   // of the scores; 1/sqrt(features of q in a head) unless given
};

/// softmax(scale q k^T) v, head by head. A query that sees no key gives 0. Keys and values may be of another time axis
/// than the queries, and queries may be latents: the result has the rows of q in every sequence of k.
Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions &options = {}, Where where = Where::current());

/// Row t is sin and cos of t / 10000^(2i/features), in pairs; features is even. [time, features].
Tensor sinusoidal_positions(TimeAxis time, int64_t features, Where where = Where::current());

/// Row t is row t of the table, which is [max_len, features]. [time, features].
Tensor learned_positions(TimeAxis time, Tensor table, Where where = Where::current());

/// The rows of a parameter [rows, features] as rows of the graph, the same in every sequence: trained queries.
Tensor latents(Tensor table, Where where = Where::current());

/// Row by row: x where the signal is at most the threshold or not a number, else x + update. A closed row is x bit for
/// bit. The signal is [rows of x, 1]; the update has the shape of x.
///
///     Tensor y = gate(x, force, 0.25, [&] { return attention(x, k, v); });
///
/// `update` is called once, at once, and declares what need not be computed where every row is closed. It reads what it
/// likes of the graph so far; what is made in it, parameters aside, stays in it.
Tensor gate(Tensor x, Tensor signal, double threshold, const std::function<Tensor()> &update,
            Where where = Where::current());

/// The mean of each sequence's rows: a row per sequence.
Tensor mean_over_time(Tensor x, Where where = Where::current());

/// The first of each sequence's rows: a row per sequence, 0 where there is none.
Tensor first_step(Tensor x, Where where = Where::current());

} // namespace burin
