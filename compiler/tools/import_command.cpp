// burin import: the directory of a trained model to a graph as text.
#include "emit/write_file.h"
#include "import/bert.h"
#include "tools/commands.h"
#include "tools/failure.h"
#include "tools/graph_text.h"
#include "tools/graph_signature.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

namespace {
struct ImportOptions {
  std::string folder, output;
  BertImportOptions bert;
};
} // namespace

static llvm::Expected<int> import(const ImportOptions &options) {
  llvm::Expected<ImportedBert> imported = importBert(options.folder, options.bert);
  if (!imported)
    return imported.takeError();
  std::optional<GraphModule> graph = takeModuleOrPrint(std::move(imported->graph));
  if (!graph)
    return failure(options.folder + ": the graph has errors");
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!imported->leftAside.empty()) {
    stream << "// Tensors of the weights file that this graph does not read; open it with allow_extra_tensors:\n";
    for (const std::string &name : imported->leftAside)
      stream << "//   " << name << "\n";
  }
  stream << textOf(*graph->module);
  if (options.output.empty()) {
    llvm::outs() << text;
    return 0;
  }
  if (llvm::Error error = installText(text, options.output))
    return error;
  return 0;
}

void addImportCommand(Tool &tool) {
  CLI::App *command =
      addCommand(tool, "import", "the directory of a BERT-family model (config.json, model.safetensors) to a graph",
                 "all-MiniLM-L6-v2 -o minilm.mlir --name minilm");
  auto options = std::make_shared<ImportOptions>();
  command->add_option("DIR", options->folder, "directory as transformers or sentence-transformers save it")->required();
  command->add_option("-o,--output", options->output, "file to write; standard output unless given");
  command->add_option("--name", options->bert.name,
                      "of the model, a C identifier; made from the directory's unless given");
  command->add_option("--ignore", options->bert.ignored,
                      "an entry of config.json that is passed over although it is not known");
  command->callback([&tool, options] { tool.action = [options] { return import(*options); }; });
}

} // namespace burin
