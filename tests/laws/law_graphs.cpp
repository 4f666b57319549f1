#include "law_graphs.h"
#include "tested_targets.h"
#include "tools/comparison.h"
#include "llvm/ADT/StringExtras.h"

namespace burin::laws {

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

bool hasKernelsOfItsOwn(const Target &target, Precision precision) {
  return precision != Precision::Float32 || target.integerDot.terms == 2;
}

std::vector<LawCase> lawCases(llvm::function_ref<bool(const LawGraph &)> concerns) {
  std::vector<LawCase> cases;
  for (const LawGraph &graph : lawGraphs())
    for (const Target &target : allTargets())
      if (concerns(graph) && (graph.onlyOn.empty() || graph.onlyOn == target.name) &&
          hasKernelsOfItsOwn(target, graph.precision))
        cases.push_back({&graph, &target});
  return cases;
}

const Target &firstOfItsForm(const Target &target) {
  for (const Target &other : allTargets())
    if (isInThisProcess(other) && sharesArchitecture(target) && other.device == target.device &&
        sharesNumericForm(other, target))
      return other;
  return target;
}

std::vector<LawCase> casesOfSharedForm(llvm::function_ref<bool(const LawGraph &)> concerns) {
  std::vector<LawCase> cases = lawCases(concerns);
  llvm::erase_if(cases, [](const LawCase &row) {
    const Target &first = firstOfItsForm(*row.target);
    return &first == row.target || !computesIn(first, row.graph->precision);
  });
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

std::string whyNotTested(const Target &target, bool isSample) {
  if (std::string why = whyNotRunnable(target); !why.empty())
    return why;
  if (!isSample && !isFullyTested(target))
    return ("target '" + target.name + "' is tested with a sample of graphs, and with all when BURIN_GPU_LAWS is set")
        .str();
  if (isInThisProcess(target) || hasOwnSchedules(target))
    return "";
  return ("the laws of the generic schedules are not tested in an emulator, '" + target.runner + "' of target '" +
          target.name + "'")
      .str();
}

void Law::SetUp() {
  if (std::string why = whyNotTested(target(), law().sample); !why.empty())
    GTEST_SKIP() << why;
  if (!computesIn(target(), law().precision))
    GTEST_SKIP() << target().name.str() << " does not compute in " << precisionName(law().precision).str();
  ASSERT_EQ(opened().hasStep(), law().streams) << law().name << " on " << target().name.str();
}

Case Law::place(const std::string &entry, uint64_t seed, int output) const {
  std::string op = law().name;
  if (output >= 0)
    op += " (output " + signature().outputs[output].name + ")";
  return {op, target().name.str(), entry, seed, law().tolerance ? law().tolerance : tolerancesOf(law().precision).own};
}

bool Law::expectSameOutputs(const std::string &entry, uint64_t seed, const Outputs &got, const Outputs &expected,
                            Where where) const {
  for (size_t output = 0; output < expected.size(); ++output)
    if (!expectSameBits(place(entry, seed, int(output)), got[output], expected[output], columns(output), where))
      return false;
  return true;
}

} // namespace burin::laws
