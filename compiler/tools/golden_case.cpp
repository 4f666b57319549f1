#include "tools/golden_case.h"
#include "dsl/golden_layers.h"
#include "nlohmann/json.hpp"
#include "tools/failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

namespace burin {

llvm::Expected<GoldenCase> GoldenCase::read(llvm::StringRef path) {
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::read(path);
  if (!file)
    return file.takeError();
  GoldenCase result;
  result.path_ = path.str();
  result.name_ = llvm::sys::path::stem(path).str();
  result.file_ = std::move(*file);
  for (auto [key, field] :
       {std::pair("op", &result.op_), std::pair("args", &result.args_), std::pair("graph", &result.graph_)})
    if (auto found = result.file_.metadata().find(key); found != result.file_.metadata().end())
      *field = found->second;
  if (result.op_.empty() && result.graph_.empty())
    return failure(path + ": metadata has neither 'op' nor 'graph', expected one of them");
  if (!result.op_.empty() && !result.graph_.empty())
    return failure(path + ": metadata has both 'op' and 'graph', expected one of them");
  auto isObject = [](const std::string &text) {
    return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false).is_object();
  };
  if (result.args_.empty() && !result.graph_.empty())
    result.args_ = "{}";
  if (!isObject(result.args_))
    return failure(path + ": metadata 'args' is not a JSON object");
  return result;
}

std::optional<int64_t> GoldenCase::argument(llvm::StringRef name) const {
  auto arguments = nlohmann::json::parse(args_);
  auto found = arguments.find(name.str());
  if (found == arguments.end() || !found->is_number_integer())
    return std::nullopt;
  return found->get<int64_t>();
}

// ---- The case's sequences

llvm::Expected<int64_t> GoldenCase::rowsOf(const Axis &axis, const GraphSignature &signature) const {
  std::string source = "args";
  std::optional<int64_t> rows = argument(axis.name);
  if (!rows)
    rows = argument("length");
  for (const EntryTensor &tensor : signature.inputs)
    if (const StoredTensor *stored = file_.find("in." + tensor.name); !rows && stored && !stored->shape.empty()) {
      if (tensor.rows != axis.name)
        continue;
      rows = stored->shape[0];
      source = "in." + tensor.name;
    }
  if (!rows)
    return failure("args has no '" + axis.name + "' and no 'length', so the rows are not known");
  if (*rows < 0 || *rows > axis.maximum)
    return failure(source + " asks for " + llvm::Twine(*rows) + " rows of '" + axis.name + "', expected 0 to " +
                   llvm::Twine(axis.maximum));
  return *rows;
}

llvm::Error GoldenCase::settleSequences(const GraphSignature &signature) {
  offsets_.clear();
  const StoredTensor *stored = file_.find("in.offsets");
  if (!stored) {
    if (int64_t sequences = argument("sequences").value_or(1); sequences != 1)
      return failure("'in.offsets' is missing: args says " + llvm::Twine(sequences) + " sequences");
    sequences_ = 1;
    for (const Axis &axis : signature.axes) {
      llvm::Expected<int64_t> rows = rowsOf(axis, signature);
      if (!rows)
        return rows.takeError();
      offsets_.push_back({0, *rows});
    }
    return llvm::Error::success();
  }

  if (stored->type != ElementType::I32 || stored->shape.size() != 1 || stored->elements() < 1)
    return failure("in.offsets is " + describe(stored->type, stored->shape) + ", expected i32[sequences + 1]");
  if (signature.axes.size() != 1)
    return failure("in.offsets is given, but the graph has " + llvm::Twine(signature.axes.size()) +
                   " time symbols, expected 1");
  std::vector<int32_t> offsets = stored->copy<int32_t>();
  sequences_ = int64_t(offsets.size()) - 1;
  if (std::optional<int64_t> sequences = argument("sequences"); sequences && *sequences != sequences_)
    return failure("in.offsets has " + llvm::Twine(sequences_) + " sequences, args says " + llvm::Twine(*sequences));
  if (offsets.front() != 0)
    return failure("in.offsets begins with " + llvm::Twine(offsets.front()) + ", expected 0");
  int64_t longest = std::min(signature.axes[0].maximum, argument("length").value_or(signature.axes[0].maximum));
  for (size_t i = 1; i < offsets.size(); ++i) {
    int64_t rows = int64_t(offsets[i]) - offsets[i - 1];
    if (rows < 0 || rows > longest)
      return failure("in.offsets gives sequence " + llvm::Twine(i - 1) + " " + llvm::Twine(rows) +
                     " rows, expected 0 to " + llvm::Twine(longest));
  }
  offsets_.emplace_back(offsets.begin(), offsets.end());
  return llvm::Error::success();
}

// ---- Parts

/// What a part must be, by its name in the file. An alternative shape serves a row or column that may stand without its
/// axis.
struct ExpectedPart {
  ElementType type;
  std::vector<int64_t> shape;
  bool required = true;
  std::vector<int64_t> alternative = {};
  bool anyShape = false;
};

/// Parameters that come from a file of weights, or that come from nowhere.
void GoldenCase::checkParameters(const GraphSignature &signature, std::vector<std::string> &problems) const {
  if (!weights_) {
    problems.push_back("'param." + signature.parameters[0].name +
                       "' is missing, as are all parameters: needs --weights");
    return;
  }
  for (const GraphParameter &parameter : signature.parameters) {
    const StoredTensor *stored = weights_->find(parameter.name);
    bool isFloat = stored && llvm::is_contained({ElementType::F32, ElementType::F16, ElementType::BF16}, stored->type);
    if (!stored)
      problems.push_back("the weights have no '" + parameter.name + "'");
    else if (!isFloat || stored->shape != parameter.shape)
      problems.push_back("the weights' '" + parameter.name + "' is " + describe(stored->type, stored->shape) +
                         ", expected " + describe(ElementType::F32, parameter.shape));
  }
}

void GoldenCase::checkParts(const GraphSignature &signature, std::vector<std::string> &problems) const {
  auto rowsOfAxis = [&](llvm::StringRef name) {
    for (auto [axis, offsets] : llvm::zip_equal(signature.axes, offsets_))
      if (axis.name == name)
        return offsets.back();
    return sequences_;
  };
  std::map<std::string, ExpectedPart> parts;
  bool hasParameters = llvm::any_of(file_.tensors(), [](auto &tensor) { return tensor.first.starts_with("param."); });
  if (weights_ || (!hasParameters && !signature.parameters.empty()))
    checkParameters(signature, problems);
  else
    for (const GraphParameter &parameter : signature.parameters)
      parts["param." + parameter.name] = {ElementType::F32, parameter.shape};
  for (const EntryTensor &input : signature.inputs) {
    int64_t columns = input.columnsBy.empty() ? input.columns : rowsOfAxis(input.columnsBy);
    ExpectedPart part{input.type, {rowsOfAxis(input.rows), columns}};
    if (input.columnsBy.empty() && columns == 1)
      part.alternative = {rowsOfAxis(input.rows)};
    parts["in." + input.name] = part;
  }
  parts["in.offsets"] = {ElementType::I32, {sequences_ + 1}, /*required=*/false};
  parts["in.labels"] = {ElementType::I32, {sequences_}, /*required=*/false};
  for (const EntryTensor &output : signature.outputs) {
    ExpectedPart part{
        ElementType::F64, {rowsOfAxis(output.rows) * output.rowsEach, output.columns}, /*required=*/false};
    if (output.rows.empty() && part.shape[0] == 1)
      part.alternative = {output.columns};
    parts["out." + output.name] = part;
    for (int64_t sequence = 0; sequence < sequences_; ++sequence) {
      std::string name = "out." + output.name + "_" + std::to_string(sequence);
      if (!file_.find(name))
        continue;
      int64_t rows = output.rowsEach;
      for (auto [axis, offsets] : llvm::zip_equal(signature.axes, offsets_))
        if (axis.name == output.rows)
          rows = offsets[sequence + 1] - offsets[sequence];
      parts[name] = {ElementType::F64, {rows, output.columns}, /*required=*/false};
      if (output.rows.empty() && rows == 1)
        parts[name].alternative = {output.columns};
    }
  }
  const Axis *stream = signature.streamAxis(), *context = signature.contextAxis();
  if (signature.outputs.size() == 1 && stream) {
    const EntryTensor &output = signature.outputs[0];
    auto rowsAlong = [&](const Axis &axis) {
      return ExpectedPart{ElementType::F64, {rowsOfAxis(axis.name) * output.rowsEach, output.columns}, false};
    };
    parts["out.prefixes"] = rowsAlong(*stream);
    if (signature.axes.size() <= 2)
      parts["out.steps"] = rowsAlong(context ? *context : *stream);
  }
  if (sequences_ == 1) // their widths are known when there is a step
    for (const char *name : {"out.k_cache", "out.v_cache"})
      parts[name] = {ElementType::F64, {}, /*required=*/false, {}, /*anyShape=*/true};

  bool comparesAnything = false;
  for (auto &[name, tensor] : file_.tensors()) {
    auto found = parts.find(name);
    if (found == parts.end()) {
      problems.push_back("'" + name + "' is not a part of this graph");
      continue;
    }
    const ExpectedPart &part = found->second;
    comparesAnything |= llvm::StringRef(name).starts_with("out.");
    bool fits = tensor.type == part.type && (part.anyShape || tensor.shape == part.shape ||
                                             (!part.alternative.empty() && tensor.shape == part.alternative));
    if (!fits)
      problems.push_back("'" + name + "' is " + describe(tensor.type, tensor.shape) + ", expected " +
                         describe(part.type, part.anyShape ? tensor.shape : part.shape));
  }
  for (auto &[name, part] : parts)
    if (part.required && !file_.find(name))
      problems.push_back("'" + name + "' is missing, expected " + describe(part.type, part.shape));
  if (!comparesAnything)
    problems.push_back("there is nothing to compare: no 'out.' tensor");
}

llvm::Error GoldenCase::fit(const GraphSignature &signature) {
  if (llvm::Error error = settleSequences(signature))
    return failure(path_ + ": " + llvm::toString(std::move(error)));
  std::vector<std::string> problems;
  checkParts(signature, problems);
  llvm::Error errors = llvm::Error::success();
  for (const std::string &problem : problems)
    errors = llvm::joinErrors(std::move(errors), failure(path_ + ": " + problem));
  return errors;
}

llvm::Expected<LoadedGraph> GoldenCase::buildGraph() const {
  if (!graph_.empty())
    return LoadedGraph::parse(graph_, path_);
  llvm::Expected<Graph> graph = buildGoldenGraph(op_, nlohmann::json::parse(args_));
  if (!graph)
    return failure(path_ + ": " + llvm::toString(graph.takeError()));
  std::optional<GraphModule> module = takeModuleOrPrint(std::move(*graph));
  if (!module)
    return failure(path_ + ": the graph has errors");
  return LoadedGraph::adopt(std::move(*module), path_);
}

} // namespace burin
