// Every mistake that the graph language can see, but those of layers: a row each. And what is said where there are
// many.
#include "mistake.h"
#include <cmath>

using namespace burin;

namespace {

// A mistake stands on the line of its `__LINE__`; clang-format would part them.
// clang-format off
const Mistake declarations[] = {
    {"time_below_one",
     [](Graph &g) { g.time("time", {.max = 0}); return __LINE__; },
     "time: the maximum of 'time' is 0, expected at least 1",
     "give the most rows of one sequence, for example time(\"time\", {.max = 64})"},
    {"time_beyond_32_bits",
     [](Graph &g) { g.time("time", {.max = 2147483648}); return __LINE__; },
     "time: the maximum of 'time' is 2147483648, expected at most 2147483647",
     "give the most rows of one sequence, for example time(\"time\", {.max = 64})"},
    {"time_name",
     [](Graph &g) { g.time("time steps", {.max = 4}); return __LINE__; },
     "time: the name 'time steps' is not a C identifier", identifier},
    {"input_features",
     [](Graph &g) { g.input("x", {timeOf(g), 0}); return __LINE__; },
     "input: 'x' has 0 features, expected at least 1", ""},
    {"input_name",
     [](Graph &g) { g.input("2x", {timeOf(g), 4}); return __LINE__; },
     "input: the name '2x' is not a C identifier", identifier},
    {"input_without_time",
     [](Graph &g) { g.input("x", {{}, 4}); return __LINE__; },
     "input: a time axis is missing", "make one with Graph::time"},
    {"input_along_pooled",
     [](Graph &g) { g.input("z", {pooledOf(g, 4).time(), 4}); return __LINE__; },
     "input: a time axis is missing", "make one with Graph::time"},
    {"input_of_other_time",
     [](Graph &g) { Graph other("other"); g.input("x", {timeOf(other), 4}); return __LINE__; },
     "input: a time axis is of graph 'other', not of 'model'", oneGraph},
    {"mask_name",
     [](Graph &g) { TimeAxis time = timeOf(g); g.mask("", {time, time}); return __LINE__; },
     "mask: the name '' is not a C identifier", identifier},
    {"mask_without_keys",
     [](Graph &g) { g.mask("mask", {timeOf(g), {}}); return __LINE__; },
     "mask: a time axis is missing", "make one with Graph::time"},
    {"output_name",
     [](Graph &g) { g.output("the result", relu(rowsOf(g, 4))); return __LINE__; },
     "output: the name 'the result' is not a C identifier", identifier},
    {"output_without_value",
     [](Graph &g) { g.output("y", Tensor()); return __LINE__; },
     "output: 'y' has no value", giveIt},
    {"output_of_input",
     [](Graph &g) { g.output("y", rowsOf(g, 4)); return __LINE__; },
     "output: 'y' is the input 'x' itself", "an output is computed by an op"},
    {"output_of_input_that_folds",
     [](Graph &g) { g.output("y", slice(dropout(rowsOf(g, 4), 0.1), 0, 4)); return __LINE__; },
     "output: 'y' is the input 'x' itself", "an output is computed by an op"},
    {"output_of_parameter",
     [](Graph &g) { g.output("y", weightOf(g, "W", {1, 4})); return __LINE__; },
     "output: 'y' is a parameter, expected a tensor of rows", ""},
    {"output_twice",
     [](Graph &g) { Tensor y = relu(rowsOf(g, 4)); g.output("y", y); g.output("z", dropout(y, 0.5)); return __LINE__; },
     "output: 'z' is the same tensor as the output 'y'", "declare it once"},
    {"output_of_other_graph",
     [](Graph &g) { Graph other("other"); g.output("y", relu(rowsOf(other, 4))); return __LINE__; },
     "output: 'y' is a tensor of graph 'other', not of 'model'", oneGraph},
    {"output_made_inside_a_gate",
     [](Graph &g) { Tensor x = rowsOf(g, 4), y; gate(x, signalOf(g, x), 0.5, [&] { return y = relu(x); }); g.output("y", y); return __LINE__; },
     "output: 'y' was made inside a gate, expected a tensor made outside of it", skippedBy(__LINE__ - 1)},
    {"output_of_a_gate_that_is_being_declared",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, signalOf(g, x), 0.5, [&] { Tensor y = relu(x); g.output("y", y); return y; }); return __LINE__; },
     "output: 'y' was made inside a gate, expected a tensor made outside of it", skippedBy(__LINE__ - 1)},
    {"parameter_size",
     [](Graph &g) { weightOf(g, "W", {8, 0}); return __LINE__; },
     "parameter: 'W' has a size of 0, expected at least 1", ""},
    {"parameter_rank",
     [](Graph &g) { parameter(g, "W", {2, 3, 4}, Init::normal); return __LINE__; },
     "parameter: 'W' has 3 dimensions, expected 1 or 2", ""},
    {"parameter_name",
     [](Graph &g) { parameter(g, "embed..W", {2}, Init::normal); return __LINE__; },
     "parameter: the name 'embed..W' is not words with dots between them", "use letters, digits and underscores in a word"},
    {"scope_name",
     [](Graph &g) { Scope scope(g, "block 0"); return __LINE__; },
     "scope: the name 'block 0' is not words with dots between them", "use letters, digits and underscores in a word"},
};

const Mistake ops[] = {
    {"dense_c1",
     [](Graph &g) { dense(rowsOf(g, 4), weightOf(g, "W", {8, 16})); return __LINE__; },
     "dense: the weight takes 8 inputs, but x has 4 features", ""},
    {"dense_c1_out_in",
     [](Graph &g) { dense(rowsOf(g, 4), weightOf(g, "W", {8, 16}), {}, Layout::out_in); return __LINE__; },
     "dense: the weight takes 16 inputs, but x has 4 features", ""},
    {"dense_c2",
     [](Graph &g) { dense(rowsOf(g, 4), weightOf(g, "W", {4, 16}), weightOf(g, "b", {8})); return __LINE__; },
     "dense: the bias has shape [8], expected [16]", ""},
    {"dense_weight_rank",
     [](Graph &g) { dense(rowsOf(g, 4), weightOf(g, "W", {4})); return __LINE__; },
     "dense: the weight has 1 dimensions, expected 2", ""},
    {"dense_of_parameter",
     [](Graph &g) { dense(weightOf(g, "x", {1, 4}), weightOf(g, "W", {4, 4})); return __LINE__; },
     "dense: x is a parameter, expected a tensor of rows", ""},
    {"dense_by_rows",
     [](Graph &g) { Tensor x = rowsOf(g, 4); dense(x, x); return __LINE__; },
     "dense: the weight is a tensor of rows, expected a parameter", makeParameter},
    {"dense_without_weight",
     [](Graph &g) { dense(rowsOf(g, 4), Tensor()); return __LINE__; },
     "dense: the weight is missing", giveIt},
    {"dense_of_other_graph",
     [](Graph &g) { Graph other("other"); dense(rowsOf(g, 4), weightOf(other, "W", {4, 4})); return __LINE__; },
     "dense: the weight is a tensor of graph 'other', not of 'model'", oneGraph},
    {"add_widths",
     [](Graph &g) { Tensor x = rowsOf(g, 4); add(x, slice(x, 0, 2)); return __LINE__; },
     "add: a has shape [time <= 64, 4], b has shape [time <= 64, 2]; expected equal shapes", ""},
    {"add_axes",
     [](Graph &g) { add(rowsOf(g, 4), g.input("c", {g.time("t_c", {.max = 8}), 4})); return __LINE__; },
     "add: a has shape [time <= 64, 4], b has shape [t_c <= 8, 4]; expected equal shapes", ""},
    {"relu_of_mask",
     [](Graph &g) { TimeAxis time = timeOf(g); relu(g.mask("mask", {time, time})); return __LINE__; },
     "relu: x is a mask, expected a tensor of rows", ""},
    {"slice_columns",
     [](Graph &g) { slice(rowsOf(g, 4), 2, 3); return __LINE__; },
     "slice: columns [2, 5) of 4 features", ""},
    {"dropout_one",
     [](Graph &g) { dropout(rowsOf(g, 4), 1); return __LINE__; },
     "dropout: p is 1, expected 0 <= p < 1", ""},
    {"dropout_not_a_number",
     [](Graph &g) { dropout(rowsOf(g, 4), std::nan("")); return __LINE__; },
     "dropout: p is nan, expected 0 <= p < 1", ""},
    {"layer_norm_gamma",
     [](Graph &g) { layer_norm(rowsOf(g, 4), weightOf(g, "gamma", {3}), weightOf(g, "beta", {4}), 1e-5); return __LINE__; },
     "layer_norm: gamma has shape [3], expected [4]", ""},
    {"layer_norm_eps",
     [](Graph &g) { layer_norm(rowsOf(g, 4), {.eps = 0}); return __LINE__; },
     "layer_norm: eps is 0, expected a positive number", ""},
    {"attention_c1",
     [](Graph &g) { Tensor x = rowsOf(g, 4); attention(x, slice(x, 0, 2), x); return __LINE__; },
     "attention: q has 4 features, k has 2; expected equal widths", ""},
    {"attention_c2",
     [](Graph &g) { Tensor x = rowsOf(g, 4); attention(x, x, g.input("v", {g.time("t_v", {.max = 8}), 4})); return __LINE__; },
     "attention: k has shape [time <= 64, 4], v has shape [t_v <= 8, 4]; expected equal rows", ""},
    {"attention_c3",
     [](Graph &g) { Tensor x = rowsOf(g, 10); attention(x, x, x, {.heads = 3}); return __LINE__; },
     "attention: 3 heads do not divide 10 features", ""},
    {"attention_c4",
     [](Graph &g) { Tensor x = rowsOf(g, 4); attention(x, x, x, {.mask = g.mask("mask", {x.time(), g.time("t_k", {.max = 8})})}); return __LINE__; },
     "attention: the mask has shape [time, t_k], expected the rows of q [time <= 64, 4] by the rows of k [time <= 64, 4]", ""},
    {"attention_mask_of_rows",
     [](Graph &g) { Tensor x = rowsOf(g, 4); attention(x, x, x, {.mask = x}); return __LINE__; },
     "attention: the mask is a tensor of rows, expected a mask", "declare it with Graph::mask"},
    {"attention_no_heads",
     [](Graph &g) { Tensor x = rowsOf(g, 4); attention(x, x, x, {.heads = 0}); return __LINE__; },
     "attention: heads is 0, expected at least 1", ""},
    {"attention_window",
     [](Graph &g) { Tensor x = rowsOf(g, 4); attention(x, x, x, {.causal = true, .window = 0}); return __LINE__; },
     "attention: window is 0, expected at least 1", ""},
    {"attention_scale",
     [](Graph &g) { Tensor x = rowsOf(g, 4); attention(x, x, x, {.scale = INFINITY}); return __LINE__; },
     "attention: scale is not finite", ""},
    {"attention_of_pooled",
     [](Graph &g) { Tensor m = pooledOf(g, 4); attention(m, m, m); return __LINE__; },
     "attention: q has shape [sequences, 4], expected [time, features]", ""},
    {"sinusoidal_positions_odd",
     [](Graph &g) { sinusoidal_positions(timeOf(g), 5); return __LINE__; },
     "sinusoidal_positions: d_model is 5, expected an even number: sines and cosines come in pairs", ""},
    {"learned_positions_table",
     [](Graph &g) { learned_positions(timeOf(g), weightOf(g, "P", {16, 4})); return __LINE__; },
     "learned_positions: time can reach 64, but the table has 16 rows", ""},
    {"learned_positions_without_time",
     [](Graph &g) { learned_positions(TimeAxis(), weightOf(g, "P", {16, 4})); return __LINE__; },
     "learned_positions: the time axis is missing", giveIt},
    {"latents_of_rows",
     [](Graph &g) { latents(rowsOf(g, 4)); return __LINE__; },
     "latents: the table is a tensor of rows, expected a parameter", makeParameter},
    {"latents_of_a_vector",
     [](Graph &g) { latents(weightOf(g, "latents", {4})); return __LINE__; },
     "latents: the table has shape [4], expected [rows, features]", ""},
    {"gate_signal_width",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, slice(x, 0, 2), 0.5, [&] { return relu(x); }); return __LINE__; },
     "gate: the signal has shape [time <= 64, 2], expected [time <= 64, 1]: one value for each row of x", ""},
    {"gate_signal_axis",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, g.input("s", {g.time("t_s", {.max = 8}), 1}), 0.5, [&] { return relu(x); }); return __LINE__; },
     "gate: the signal has shape [t_s <= 8, 1], expected [time <= 64, 1]: one value for each row of x", ""},
    {"gate_by_parameter",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, weightOf(g, "s", {1, 1}), 0.5, [&] { return relu(x); }); return __LINE__; },
     "gate: the signal is a parameter, expected a tensor of rows", ""},
    {"gate_without_signal",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, Tensor(), 0.5, [&] { return relu(x); }); return __LINE__; },
     "gate: the signal is missing", giveIt},
    {"gate_threshold",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, signalOf(g, x), std::nan(""), [&] { return relu(x); }); return __LINE__; },
     "gate: the threshold is not a number", ""},
    {"gate_update_width",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, signalOf(g, x), 0.5, [&] { return slice(x, 0, 2); }); return __LINE__; },
     "gate: the update has shape [time <= 64, 2], expected x's shape [time <= 64, 4]", ""},
    {"gate_update_axis",
     [](Graph &g) { Tensor x = rowsOf(g, 4), c = g.input("c", {g.time("t_c", {.max = 8}), 4}); gate(x, signalOf(g, x), 0.5, [&] { return relu(c); }); return __LINE__; },
     "gate: the update has shape [t_c <= 8, 4], expected x's shape [time <= 64, 4]", ""},
    {"gate_update_of_parameter",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, signalOf(g, x), 0.5, [&] { return weightOf(g, "W", {4, 4}); }); return __LINE__; },
     "gate: the update is a parameter, expected a tensor of rows", ""},
    {"gate_update_of_other_graph",
     [](Graph &g) { Graph other("other"); Tensor x = rowsOf(g, 4); gate(x, signalOf(g, x), 0.5, [&] { return relu(rowsOf(other, 4)); }); return __LINE__; },
     "gate: the update is a tensor of graph 'other', not of 'model'", oneGraph},
    {"gate_that_yields_nothing",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, signalOf(g, x), 0.5, [] { return Tensor(); }); return __LINE__; },
     "gate: the update is missing", giveIt},
    {"gate_without_update",
     [](Graph &g) { Tensor x = rowsOf(g, 4); gate(x, signalOf(g, x), 0.5, nullptr); return __LINE__; },
     "gate: the update is missing", giveIt},
    {"op_of_what_a_gate_made",
     [](Graph &g) { Tensor x = rowsOf(g, 4), y; gate(x, signalOf(g, x), 0.5, [&] { return y = relu(x); }); add(x, y); return __LINE__; },
     "add: b was made inside a gate, expected a tensor made outside of it", skippedBy(__LINE__ - 1)},
    {"update_that_another_gate_made",
     [](Graph &g) { Tensor x = rowsOf(g, 4), s = signalOf(g, x), y; gate(x, s, 0.5, [&] { return y = relu(x); }); gate(x, s, 0.7, [&] { return y; }); return __LINE__; },
     "gate: the update was made inside a gate, expected a tensor made outside of it", skippedBy(__LINE__ - 1)},
    {"op_of_what_an_inner_gate_made",
     [](Graph &g) { Tensor x = rowsOf(g, 4), s = signalOf(g, x), y; gate(x, s, 0.5, [&] { gate(x, s, 0.7, [&] { return y = relu(x); }); return gelu(y); }); return __LINE__; },
     "gelu: x was made inside a gate, expected a tensor made outside of it", skippedBy(__LINE__ - 1)},
    {"mean_over_time_twice",
     [](Graph &g) { mean_over_time(pooledOf(g, 4)); return __LINE__; },
     "mean_over_time: x has shape [sequences, 4], expected [time, features]", ""},
};

INSTANTIATE_TEST_SUITE_P(InDeclarations, DslMistake, testing::ValuesIn(declarations), rowName);
INSTANTIATE_TEST_SUITE_P(InOps, DslMistake, testing::ValuesIn(ops), rowName);

/// All errors as they are printed, one a line, without the folders of this file.
std::string textOf(const Graph &g) {
  std::string text, folders = __FILE__;
  folders.resize(folders.rfind('/') + 1);
  for (const GraphError &error : g.errors())
    text += error.text() + "\n";
  for (size_t at; (at = text.find(folders)) != std::string::npos;)
    text.erase(at, folders.size());
  return text;
}

TEST(DslErrors, AGraphWithoutOutputIsOne) {
  Graph g("model"); const int line = __LINE__;
  rowsOf(g, 4);
  EXPECT_EQ(textOf(g), placeOf(line) + ": error: graph: 'model' has no output\n" +
                           placeOf(line) + ": note: name a result with output(\"y\", y)\n");
}

TEST(DslErrors, AModelIsNamedByACIdentifier) {
  Graph g("my model"); const int line = __LINE__;
  g.output("y", relu(rowsOf(g, 4)));
  EXPECT_EQ(textOf(g), placeOf(line) + ": error: graph: the name 'my model' is not a C identifier\n" +
                           placeOf(line) + ": note: " + identifier + "\n");
}

TEST(DslErrors, ANameIsTakenOnceInTimesInputsMasksAndOutputs) {
  Graph g("model");
  TimeAxis time = g.time("a", {.max = 4}); const int first = __LINE__;
  Tensor x = g.input("x", {time, 4}); const int second = __LINE__;
  g.time("a", {.max = 4}); const int clash = __LINE__;
  g.input("a", {time, 4});
  g.mask("x", {time, time});
  g.output("x", relu(x));
  const std::string byTime = ": note: by the time axis declared at " + placeOf(first) + "; choose another name\n";
  const std::string byInput = ": note: by the input declared at " + placeOf(second) + "; choose another name\n";
  EXPECT_EQ(textOf(g), placeOf(clash) + ": error: time: the name 'a' is taken\n" + placeOf(clash) + byTime +
                           placeOf(clash + 1) + ": error: input: the name 'a' is taken\n" + placeOf(clash + 1) + byTime +
                           placeOf(clash + 2) + ": error: mask: the name 'x' is taken\n" + placeOf(clash + 2) + byInput +
                           placeOf(clash + 3) + ": error: output: the name 'x' is taken\n" + placeOf(clash + 3) + byInput);
}

TEST(DslErrors, ALayerTwiceInAScopeIsOneMistake) {
  Graph g("model");
  Tensor x = rowsOf(g, 8);
  Tensor y = multi_head_self_attention(x, {.d_model = 8, .heads = 2}); const int first = __LINE__;
  Tensor z = multi_head_self_attention(y, {.d_model = 8, .heads = 2});
  g.output("y", z);
  EXPECT_EQ(textOf(g), placeOf(first + 1) + ": error: parameter: the name 'W_Q' is taken\n" + placeOf(first + 1) +
                           ": note: by the parameter declared at " + placeOf(first) + "; put one of the layers in a Scope\n");
}

TEST(DslErrors, ALayerTwiceInScopesOfItsOwnIsNone) {
  Graph g("model");
  Tensor y = rowsOf(g, 8);
  for (const char *name : {"first", "second"}) {
    Scope scope(g, name);
    y = multi_head_self_attention(y, {.d_model = 8, .heads = 2});
  }
  g.output("y", y);
  EXPECT_EQ(textOf(g), "");
}

TEST(DslErrors, AllIndependentMistakesAreSaidInOneRunAndNothingThatFollowsFromThem) {
  Graph g("model");
  Tensor x = rowsOf(g, 4);
  Tensor a = dense(x, parameter(g, "W", {8, 16}, Init::normal)); const int first = __LINE__;
  Tensor b = relu(add(a, x));                                         // follows from the first
  Tensor c = transformer_block(b, {.d_model = 8, .heads = 2, .d_ff = 16}); // follows from the first
  Tensor d = multi_head_self_attention(c, {.d_model = 8, .heads = 3}); const int second = __LINE__;
  Tensor e = slice(x, 3, 2); const int third = __LINE__;
  g.output("y", add(d, e));
  EXPECT_EQ(textOf(g),
            placeOf(first) + ": error: dense: the weight takes 8 inputs, but x has 4 features\n" +
                placeOf(second) + ": error: multi_head_self_attention: 3 heads do not divide d_model 8\n" +
                placeOf(second) + ": note: choose a d_model that is a multiple of heads, such as 9\n" +
                placeOf(third) + ": error: slice: columns [3, 5) of 4 features\n");
}

TEST(DslErrors, MistakesOfAGateAndInsideItAreAllSaidAndNothingThatFollowsFromThem) {
  Graph g("model");
  Tensor x = rowsOf(g, 4), inside;
  int inner = 0;
  auto update = [&] {
    inside = relu(x);
    inner = __LINE__ + 1;
    return add(dense(x, parameter(g, "W", {8, 16}, Init::normal)), inside);
  };
  Tensor y = gate(x, slice(x, 0, 2), 0.5, update); const int first = __LINE__;
  Tensor z = gate(y, x, 0.5, [&] { return relu(y); }); // follows from the first
  g.output("y", relu(inside)); const int second = __LINE__; // the gate is refused, but what it made stays in it
  g.output("z", z);
  EXPECT_EQ(textOf(g), placeOf(first) + ": error: gate: the signal has shape [time <= 64, 2], expected [time <= 64, 1]: "
                           "one value for each row of x\n" +
                           placeOf(inner) + ": error: dense: the weight takes 8 inputs, but x has 4 features\n" +
                           placeOf(second) + ": error: relu: x was made inside a gate, expected a tensor made outside of "
                           "it\n" + placeOf(second) + ": note: " + skippedBy(first) + "\n");
}

TEST(DslErrors, ALayersOwnMistakesAreAllSaid) {
  Graph g("model");
  Tensor x = rowsOf(g, 4);
  Tensor y = transformer_encoder(x, {.d_model = -8, .heads = 2}); const int line = __LINE__;
  g.output("y", y);
  std::string expected;
  for (const char *text : {"d_model is -8", "d_ff is 0", "depth is 0", "outputs is 0"})
    expected += placeOf(line) + ": error: transformer_encoder: " + text + ", expected at least 1\n";
  EXPECT_EQ(textOf(g), expected);
}

TEST(DslErrors, AnAbsentTensorNeverReachesAnOutputUnsaid) {
  Graph g("model");
  g.output("y", relu(Tensor())); const int line = __LINE__; // no graph to tell it to, until here
  EXPECT_EQ(textOf(g), placeOf(line) + ": error: output: 'y' has no value\n" + placeOf(line) + ": note: " + giveIt + "\n");
}

} // namespace
// clang-format on
