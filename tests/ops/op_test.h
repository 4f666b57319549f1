// Tests of a room: values that come from outside, checked against the reference and against the kernel on every target
// that runs here; and what is said about operands that do not fit.
#pragma once

#include "dsl/layers.h"
#include "mismatch.h"
#include "stream.h"
#include "gtest/gtest.h"

namespace burin::laws {

/// Rows of numbers as they are written down.
using Rows = std::vector<std::vector<float>>;

/// The rows one after another.
std::vector<float> flat(const Rows &rows);

/// A graph with one op, or a few around it, and its weights.
class OpGraph {
public:
  OpGraph(std::string op, Graph graph, Weights weights = {});

  const GraphSignature &signature() const { return graph_.signature(); }

  /// The reference and every target give `expected`, one value per output, for the inputs. The lengths are given by
  /// time symbol, in order. A tolerance of 0 asks for exactly these values.
  void expect(const std::vector<int64_t> &lengths, const std::vector<InputValues> &inputs,
              const std::vector<Rows> &expected, double tolerance = 1e-5, Where where = Where::current());

  /// Every target gives, step by step and in one chunk, the rows of `expected`, one value per output.
  void expectSteps(int64_t samples, const std::vector<InputValues> &inputs, const std::vector<Rows> &expected,
                   double tolerance = 1e-5, Where where = Where::current());

  /// Every target gives what the reference gives, on random inputs.
  void expectReference(const std::vector<int64_t> &lengths, uint64_t seed, Where where = Where::current());

  /// The targets that run here, compiled and opened at the first call.
  const std::vector<std::pair<const Target *, std::unique_ptr<OpenedModel>>> &models();
  const DeclaredGraph &graph() const { return graph_; }

private:
  std::string op_;
  DeclaredGraph graph_;
  Weights weights_;
  std::vector<std::unique_ptr<CompiledGraph>> compiled_;
  std::vector<std::pair<const Target *, std::unique_ptr<OpenedModel>>> models_; // last: goes before what it is made of
};

/// Everything that is said about the ops in `body`, textual IR, a line each; empty where they are sound. op_test.cpp
/// declares what the body may use: %x3 : !x3 and so on.
std::string errorsOf(llvm::StringRef body);

} // namespace burin::laws
