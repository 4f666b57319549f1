// The table of graphs that the laws are tested on: single ops at odd widths, layers, whole encoders. What a law needs
// to know of a graph stands in its row; a new op is a new row, or a line in a graph that is there.
//
// Ops share a graph, each with an output of its own, where their kernels stay apart: one compilation, many kernels.
#pragma once

#include "mismatch.h"
#include "stream.h"
#include "gtest/gtest.h"
#include <functional>

namespace burin::laws {

/// Most rows of a sequence of any graph: more than two tiles of keys.
constexpr int64_t longest = 70;

struct LawGraph {
  std::string name;
  std::function<Graph()> build;
  bool streams = false;    // it has a step: row t of an output depends on rows 0 … t
  bool rowWise = false;    // row t of an output depends on row t of the inputs alone
  bool unordered = false;  // permuting the rows permutes the outputs
  bool contexts = false;   // besides the stream that a step takes there are others
  bool gate = false;       // output 0 is input x0 in each row where the input `signal` is closed: -1, where 1 is open
  bool latents = false;    // latent queries read the rows so far
  int64_t reach = 0;       // row t of an output depends on so many last rows, up to t; 0: on all of them
  bool sample = false;     // one of the few that stand for all where compiling takes long: every kernel class is there
  std::string onlyOn = {}; // a target; empty: on all
  Precision precision = Precision::Float32; // of its contracts; on devices it is the only one
  double tolerance = 0;                     // of what is not equal in bits; 0: that of the precision
};

/// A program of tests has one table: law_table.cpp, or random graphs.
llvm::ArrayRef<LawGraph> lawGraphs();

// The parts of the table: single ops, layers and encoders, what looks back through windows, and what has two sequences,
// gates or latents.
std::vector<LawGraph> opGraphs();
std::vector<LawGraph> layerGraphs();
std::vector<LawGraph> windowGraphs();
std::vector<LawGraph> twoSequenceGraphs();

/// Lengths, one for each time symbol, that no tile divides: none, one, up to the maximum.
std::vector<std::vector<int64_t>> oddLengths(const GraphSignature &signature);

/// A graph on a target; what a test of a law is given.
struct LawCase {
  const LawGraph *graph;
  const Target *target;
};

void PrintTo(const LawCase &row, std::ostream *stream);
std::string nameOf(const testing::TestParamInfo<LawCase> &info);
std::vector<LawCase> lawCases(llvm::function_ref<bool(const LawGraph &)> concerns);

/// The first target that runs here and shares the numeric form of `target`, and its architecture: products and sums
/// that a code generator fuses or not differ from one to another. `target` itself where there is none.
const Target &firstOfItsForm(const Target &target);

/// Graphs on every target but the first of a form, which the others are compared with.
std::vector<LawCase> casesOfSharedForm(llvm::function_ref<bool(const LawGraph &)> concerns);

/// Tests of a target without a graph are given its name.
std::vector<std::string> targetNames();
std::string nameOfTarget(const testing::TestParamInfo<std::string> &info);

const LawGraph &lawGraph(llvm::StringRef name);

/// What is shared by the tests of a process: a graph, its compiled form for each target, random weights.
class LawModel {
public:
  static constexpr uint64_t weightsSeed = 1;

  LawModel(const LawGraph &law, const Target &target)
      : graph(law.build(), law.precision), weights(graph.randomWeights(weightsSeed)), compiled(graph, target),
        opened(compiled, graph, weights) {}

  /// Compiled at the first call; throws, at every call, where that fails.
  static const LawModel &of(const LawGraph &graph, const Target &target);

  DeclaredGraph graph;
  Weights weights;
  CompiledGraph compiled;
  OpenedModel opened;
};

/// Why the laws are not tested on a target; empty where they are: on what runs here, and in an emulator on what has
/// schedules of its own. The generic schedules are tested on this machine's processor; for another, the golden cases
/// say that its code generator and its vectors do what they should. On a GPU, where the driver compiles each kernel for
/// a second, the laws of a sample of the graphs are tested, and with BURIN_GPU_LAWS those of all.
std::string whyNotTested(const Target &target, bool isSample = false);

/// For laws about the memory of this process, and those that watch the runtime in it.
#define SKIP_UNLESS_IN_THIS_PROCESS()                                                                                  \
  if (!isInThisProcess(target()))                                                                                      \
  GTEST_SKIP() << target().name.str() << ": its code runs in another process"

/// For laws that the real-time contract promises of processors alone: a GPU's driver allocates, and the host knows of
/// no value before all kernels of a call are done.
#define SKIP_ON_DEVICE(why)                                                                                            \
  if (isOnDevice())                                                                                                    \
  GTEST_SKIP() << target().name.str() << ": its kernels run on a device, and " << why

/// A test of a law: skipped, by name, where it is not tested on the target.
class Law : public testing::TestWithParam<LawCase> {
protected:
  void SetUp() override;

  const LawGraph &law() const { return *GetParam().graph; }
  const Target &target() const { return *GetParam().target; }
  const LawModel &model() const { return LawModel::of(law(), target()); }
  const OpenedModel &opened() const { return model().opened; }
  const GraphSignature &signature() const { return model().graph.signature(); }

  /// What a failure says, for output `output` where one is meant.
  Case place(const std::string &entry, uint64_t seed, int output = -1) const;
  /// Compares all outputs bit for bit; stops at the first that differs.
  bool expectSameOutputs(const std::string &entry, uint64_t seed, const Outputs &got, const Outputs &expected,
                         Where where = Where::current()) const;
  int64_t columns(size_t output) const { return signature().outputs[output].columns; }
  /// True where the kernels run on a GPU, and states are there.
  bool isOnDevice() const { return !target().device.empty(); }
  /// The axis that a step takes rows of.
  int64_t stepAxis() const { return opened().axisOf(0); }
  /// `rows` for every axis, at random.
  Sequence randomSequence(int64_t rows, uint64_t seed) const {
    return model().graph.randomSequence(std::vector<int64_t>(signature().axes.size(), rows), seed);
  }
  /// True where an output has a row per time step, and not one per sequence.
  bool hasRows(size_t output) const { return !signature().outputs[output].rows.empty(); }
};

/// Runs a law over the graphs that it concerns, on every target.
#define BURIN_LAW(suite, concerns)                                                                                     \
  class suite : public ::burin::laws::Law {};                                                                          \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(::burin::laws::lawCases(concerns)), ::burin::laws::nameOf)

} // namespace burin::laws
