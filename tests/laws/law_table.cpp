// The table of graphs that people wrote.
#include "law_graphs.h"

namespace burin::laws {

llvm::ArrayRef<LawGraph> lawGraphs() {
  static const std::vector<LawGraph> graphs = [] {
    std::vector<LawGraph> all;
    for (auto graphs : {opGraphs, layerGraphs, windowGraphs, twoSequenceGraphs})
      llvm::append_range(all, graphs());
    return all;
  }();
  return graphs;
}

} // namespace burin::laws
