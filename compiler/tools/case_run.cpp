#include "tools/case_run.h"
#include "llvm/ADT/STLExtras.h"

namespace burin {

CaseRun::CaseRun(const GoldenCase &given, const GraphSignature &signature, CompiledModel &model, llvm::StringRef target,
                 Precision precision, ComparisonReport &report, Progress &progress)
    : given(given), signature(signature), model(model), progress(progress), tolerances(tolerancesOf(precision)),
      target_(target), precision_(precision), report_(report) {
  for (const EntryTensor &tensor : signature.inputs)
    inputs.add(tensor.name, tensor.columns * int64_t(bytesOf(tensor.type)), given.input(tensor.name).copy<char>());
}

void CaseRun::add(Comparison comparison, llvm::StringRef what) {
  comparison.caseName = given.name();
  comparison.what = what.str();
  comparison.target = target_.str();
  progress.clear();
  report_.add(comparison);
}

void CaseRun::addExpected(const Values &got, llvm::StringRef name, llvm::StringRef what) {
  if (const StoredTensor *expected = given.expected(name))
    addOutside(got, *expected, what);
}

void CaseRun::addOutside(const Values &got, const StoredTensor &expected, llvm::StringRef what) {
  std::vector<double> values = expected.toDoubles();
  Comparison comparison = compare(got, values, expected.shape, tolerances.outside);
  if (precision_ != Precision::Float32)
    comparison.cosines = cosinesOf(got, values, expected.shape);
  add(comparison, what);
}

std::string CaseRun::suffixOf(const EntryTensor &output) const {
  return signature.outputs.size() == 1 ? "" : " '" + output.name + "'";
}

std::vector<int64_t> CaseRun::lengthsOf(int64_t sequence) const {
  std::vector<int64_t> lengths;
  for (size_t axis = 0; axis < signature.axes.size(); ++axis)
    lengths.push_back(rows(sequence, axis));
  return lengths;
}

llvm::Expected<CompiledModel::Outputs> CaseRun::forward(int64_t sequence, llvm::ArrayRef<int64_t> lengths) {
  std::vector<int64_t> planRows(lengths.size());
  for (auto [axis, length] : llvm::zip_equal(signature.axes, lengths))
    planRows[model.axisNamed(axis.name)] = length;
  // Only graphs with one symbol have several sequences, hence begin elsewhere than at 0.
  return model.forward(planRows, inputs.of(*model.plan().forward, lengths.empty() ? 0 : first(sequence, 0)));
}

} // namespace burin
