// A row of the tables of mistakes: a graph with one mistake, and what is said about it: the exact text, at the exact
// line, and nothing else. And what the rows' graphs are made of.
#pragma once

#include "dsl/layers.h"
#include "gtest/gtest.h"

namespace burin {

struct Mistake {
  const char *name;
  int (*declare)(Graph &g); // returns the line of the mistake
  std::string message, note;
  Where table = Where::current(); // the file that the mistake is in
};

inline void PrintTo(const Mistake &mistake, std::ostream *stream) { *stream << mistake.name; }

/// Its test is in mistake.cpp; each table is an instance of it.
class DslMistake : public testing::TestWithParam<Mistake> {};

inline std::string rowName(const testing::TestParamInfo<Mistake> &row) { return row.param.name; }

inline TimeAxis timeOf(Graph &g) { return g.time("time", {.max = 64}); }
inline Tensor rowsOf(Graph &g, int64_t features) { return g.input("x", {timeOf(g), features}); }
inline Tensor pooledOf(Graph &g, int64_t features) { return mean_over_time(rowsOf(g, features)); }
inline Tensor signalOf(Graph &g, Tensor x) { return g.input("signal", {x.time(), 1}); }
inline Tensor weightOf(Graph &g, const char *name, std::vector<int64_t> shape, Where where = Where::current()) {
  return parameter(g, name, shape, Init::normal, where);
}

/// "dsl_errors_test.cpp:12": a place as notes name it.
inline std::string placeOf(int line, Where here = Where::current()) {
  std::string file = here.file_name();
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
}

/// What is noted where a tensor leaves the gate that was declared at `line`.
inline std::string skippedBy(int line, Where here = Where::current()) {
  return "the gate declared at " + placeOf(line, here) +
         " may skip it; use what that gate returned, or make the tensor before it";
}

inline const std::string oneGraph = "declare all of a model in one graph";
inline const std::string giveIt = "give it what a function of this graph returned";
inline const std::string makeParameter = "make it with parameter(graph, name, shape, init)";
inline const std::string identifier = "use letters, digits and underscores, and no digit first";

} // namespace burin
