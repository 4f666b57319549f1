#include "import/bert.h"
#include "import/bert_config.h"
#include "tools/failure.h"
#include "tools/safetensors_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

namespace burin {

namespace {

/// How this file calls what other files call otherwise.
struct FileNames {
  std::string prefix; // "" or "bert"
  std::string scale, shift;
};

llvm::Expected<FileNames> namesOf(const SafetensorsFile &weights) {
  const std::string words = "embeddings.word_embeddings.weight", norm = "embeddings.LayerNorm.";
  FileNames names;
  if (!weights.find(words)) {
    if (!weights.find("bert." + words))
      return failure("tensor '" + words + "' is missing, with and without the prefix 'bert.'");
    names.prefix = "bert";
  }
  bool isOld = weights.find((names.prefix.empty() ? "" : "bert.") + norm + "gamma") != nullptr;
  names.scale = isOld ? "gamma" : "weight";
  names.shift = isOld ? "beta" : "bias";
  return names;
}

/// A C identifier from the folder's name.
std::string nameFrom(llvm::StringRef folder) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  while (path.size() > 1 && llvm::sys::path::is_separator(path.back()))
    path.pop_back();
  std::string name = llvm::sys::path::filename(path).lower();
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name[0]))
    name = "model_" + name;
  return name;
}

/// Every parameter of the graph is in the file, with its shape, as floats.
llvm::Error checkWeights(const SafetensorsFile &weights, const Graph &graph, ImportedBert &imported) {
  llvm::StringSet<> read;
  for (const DeclaredParameter &parameter : graph.parameters()) {
    read.insert(parameter.name);
    const StoredTensor *stored = weights.find(parameter.name);
    if (!stored)
      return failure("tensor '" + parameter.name + "' is missing");
    bool isFloat = llvm::is_contained({ElementType::F32, ElementType::F16, ElementType::BF16}, stored->type);
    if (!isFloat || stored->shape != parameter.shape)
      return failure("tensor '" + parameter.name + "' is " + describe(stored->type, stored->shape) + ", expected " +
                     describe(ElementType::F32, parameter.shape) + " by config.json");
  }
  for (auto &[name, tensor] : weights.tensors())
    if (!read.contains(name))
      imported.leftAside.push_back(name);
  return llvm::Error::success();
}

} // namespace

llvm::Expected<ImportedBert> importBert(llvm::StringRef folder, const BertImportOptions &given) {
  llvm::Expected<SentenceModules> modules = readSentenceModules(folder);
  if (!modules)
    return modules.takeError();
  auto below = [&](llvm::StringRef file) {
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, modules->encoderFolder, file);
    return path.str().str();
  };
  llvm::Expected<BertEncoderOptions> options = readBertConfig(below("config.json"), given.ignored);
  if (!options)
    return options.takeError();
  std::string weightsPath = below("model.safetensors");
  llvm::Expected<SafetensorsFile> weights = SafetensorsFile::read(weightsPath);
  if (!weights)
    return weights.takeError();
  auto named = [&](llvm::Error error) { return failure(weightsPath + ": " + llvm::toString(std::move(error))); };
  llvm::Expected<FileNames> names = namesOf(*weights);
  if (!names)
    return named(names.takeError());
  options->scale = names->scale;
  options->shift = names->shift;

  ImportedBert imported{Graph(given.name.empty() ? nameFrom(folder) : given.name), {}};
  Graph &g = imported.graph;
  Tensor ids = g.ids("ids", g.time("time", {.max = options->max_len}));
  auto encode = [&] { return bert_encoder(ids, *options); };
  Tensor y;
  if (names->prefix.empty()) {
    y = encode();
  } else {
    Scope inside(g, names->prefix);
    y = encode();
  }
  if (modules->pooling == SentenceModules::mean)
    y = mean_over_time(y);
  if (modules->pooling == SentenceModules::first)
    y = first_step(y);
  g.output("y", modules->normalize ? l2_normalize(y) : y);

  std::string problems; // sizes of config.json that do not fit one another
  for (const GraphError &error : g.errors())
    problems += (problems.empty() ? "" : "; ") + error.message;
  if (!problems.empty())
    return failure(below("config.json") + ": " + problems);
  if (llvm::Error error = checkWeights(*weights, g, imported))
    return named(std::move(error));
  return imported;
}

} // namespace burin
