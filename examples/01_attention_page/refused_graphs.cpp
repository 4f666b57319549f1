// Graphs that the page calls errors. A mistake is found where the graph is declared, before anything is compiled, and
// keeps the line that made it. So this file uses the graph language, which programs that only run models do not link.
#include "dsl/encoder.h"
#include "dsl/layers.h"
#include "page.h"

using namespace burin;

namespace {

Tensor input(Graph &g, int64_t features) { return g.input("x", {g.time("time", {.max = 16}), features}); }

/// The graph has one mistake and says so in these words.
void refuses(page::Report &report, const Graph &g, const std::string &stated) {
  std::vector<GraphError> errors = g.errors();
  bool holds = errors.size() == 1 && errors[0].message.find(stated) != std::string::npos;
  report.fact("refused: " + stated, holds);
  for (const GraphError &error : errors)
    std::printf("%s\n", error.text().c_str());
}

} // namespace

void page::refusedGraphs(Report &report) {
  report.section("what is refused, at the line that declares it");
  {
    Graph g("heads");
    g.output("y", multi_head_self_attention(input(g, 8), {.d_model = 8, .heads = 3}));
    refuses(report, g, "3 heads do not divide d_model 8");
  }
  {
    Graph g("odd");
    g.output("y", add_positions(input(g, 5)));
    refuses(report, g, "expected an even number");
  }
  {
    Graph g("too_long");
    g.output("y", add_positions(input(g, 8), {.max_len = 15}));
    refuses(report, g, "a sequence can have 16 rows, but max_len is 15");
  }
  {
    Graph g("shallow");
    g.output("y", transformer_encoder(input(g, 4), {.d_model = 8, .heads = 2, .d_ff = 16, .depth = 0, .outputs = 3}));
    refuses(report, g, "depth is 0, expected at least 1");
  }
  {
    Graph g("dropped");
    g.output("y", transformer_block(input(g, 8), {.d_model = 8, .heads = 2, .d_ff = 16, .dropout = 1}));
    refuses(report, g, "expected 0 <= p < 1");
  }
}
