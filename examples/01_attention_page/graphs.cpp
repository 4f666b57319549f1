// The models of the page, each a few lines. One program declares them all: its first argument names the graph, the rest
// is a command of `burin`:
//
//     build/bin/attention_page_graphs block inspect
#include "dsl/burin_main.h"
#include "dsl/encoder.h"
#include "dsl/layers.h"
#include <cstdio>
#include <cstring>

using namespace burin;

namespace {

// One query, two keys. The layer has no parameters, so the model needs no weights file.
Graph sdpa() {
  Graph g("page_sdpa");
  TimeAxis queries = g.time("queries", {.max = 1}), keys = g.time("keys", {.max = 2});
  Tensor q = g.input("q", {queries, 2});
  Tensor k = g.input("k", {keys, 2});
  Tensor v = g.input("v", {keys, 1});
  g.output("y", scaled_dot_product_attention(q, k, v));
  return g;
}

Graph mhsa() {
  Graph g("page_mhsa");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 8});
  g.output("y", multi_head_self_attention(x, {.d_model = 8, .heads = 2}));
  return g;
}

// Causal, so each row depends on the rows before it only, and the model gets `step` without another word.
Graph mhsa_causal() {
  Graph g("page_mhsa_causal");
  Tensor x = g.input("x", {g.time("time", {.max = 5}), 8});
  g.output("y", multi_head_self_attention(x, {.d_model = 8, .heads = 2, .causal = true}));
  return g;
}

// Dropout says how the block was trained; the page checks that the compiled block gives what one without it gives.
Graph block() {
  Graph g("page_block");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 8});
  g.output("z", transformer_block(x, {.d_model = 8, .heads = 2, .d_ff = 16, .dropout = 0.1}));
  return g;
}

Graph block_causal() {
  Graph g("page_block_causal");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 8});
  g.output("z", transformer_block(x, {.d_model = 8, .heads = 2, .d_ff = 16, .causal = true}));
  return g;
}

// A graph without input: its rows are only counted.
Graph sinusoids() {
  Graph g("page_sinusoids");
  g.output("y", sinusoidal_positions(g.time("time", {.max = 4}), 4));
  return g;
}

Graph add_positions() {
  Graph g("page_add_positions");
  Tensor x = g.input("x", {g.time("time", {.max = 16}), 4});
  g.output("y", burin::add_positions(x, {.max_len = 16}));
  return g;
}

Graph learned() {
  Graph g("page_learned");
  Tensor x = g.input("x", {g.time("time", {.max = 4}), 3});
  g.output("y", learned_positions(x, {.max_len = 4}));
  return g;
}

// A table large enough to have a mean and a standard deviation.
Graph learned_large() {
  Graph g("page_learned_large");
  Tensor x = g.input("x", {g.time("time", {.max = 128}), 64});
  g.output("y", learned_positions(x, {.max_len = 128}));
  return g;
}

Graph encoder() {
  Graph g("page_encoder");
  Tensor x = g.input("x", {g.time("time", {.max = 16}), 4});
  g.output("y",
           transformer_encoder(x, {.d_model = 8, .heads = 2, .d_ff = 16, .depth = 1, .outputs = 3, .max_len = 16}));
  return g;
}

// Three blocks, all of them causal: one that looked ahead would leave the graph without a `step`, and require_step
// makes that an error.
Graph encoder_causal() {
  Graph g("page_encoder_causal");
  Tensor x = g.input("x", {g.time("time", {.max = 40}), 6});
  g.output("y",
           transformer_encoder(
               x, {.d_model = 32, .heads = 4, .d_ff = 64, .depth = 3, .outputs = 5, .max_len = 40, .causal = true}));
  g.require_step();
  return g;
}

struct {
  const char *name;
  Graph (*build)();
} const graphs[] = {
    {"sdpa", sdpa},
    {"mhsa", mhsa},
    {"mhsa_causal", mhsa_causal},
    {"block", block},
    {"block_causal", block_causal},
    {"sinusoids", sinusoids},
    {"add_positions", add_positions},
    {"learned", learned},
    {"learned_large", learned_large},
    {"encoder", encoder},
    {"encoder_causal", encoder_causal},
};

} // namespace

int main(int argc, char **argv) {
  for (const auto &graph : graphs)
    if (argc > 1 && !std::strcmp(argv[1], graph.name)) {
      argv[1] = argv[0]; // the name is ours; what follows it is for burin_main
      return burin_main(argc - 1, argv + 1, graph.build);
    }
  // Not ours to read: while compiling, the tool starts this program again for each kernel.
  if (argc > 1 && !std::strncmp(argv[1], "--", 2))
    return burin_main(argc, argv, graphs[0].build);

  std::fprintf(stderr, "usage: attention_page_graphs GRAPH COMMAND …, where GRAPH is one of\n");
  for (const auto &graph : graphs)
    std::fprintf(stderr, "  %s\n", graph.name);
  return 2;
}
