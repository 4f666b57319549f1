// Directories of BERT-family models, small ones written here: the graph that they give, and every refusal by name.
#include "dialect/encoder.h"
#include "dsl/graph_module.h"
#include "import/bert.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/safetensors_file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fstream>
#include <nlohmann/json.hpp>

using namespace burin;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const char transformer[] = "sentence_transformers.models.Transformer";
const char pooling[] = "sentence_transformers.models.Pooling";
const char normalize[] = "sentence_transformers.models.Normalize";

/// A directory of a model with one layer, as it would be saved; parts of it can be changed before it is imported.
class ModelFolder {
public:
  ModelFolder() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("burin-import", path));
    path_ = path.str().str();
    config = {{"model_type", "bert"},
              {"hidden_size", 4},
              {"num_hidden_layers", 1},
              {"num_attention_heads", 2},
              {"intermediate_size", 6},
              {"hidden_act", "gelu"},
              {"layer_norm_eps", 1e-12},
              {"vocab_size", 7},
              {"max_position_embeddings", 5},
              {"type_vocab_size", 2},
              {"position_embedding_type", "absolute"},
              {"hidden_dropout_prob", 0.1},
              {"architectures", {"BertModel"}}};
    shapes = {{"embeddings.word_embeddings.weight", {7, 4}},
              {"embeddings.position_embeddings.weight", {5, 4}},
              {"embeddings.token_type_embeddings.weight", {2, 4}}};
    norm("embeddings.LayerNorm");
    for (const char *name :
         {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"})
      project(name, 4, 4);
    norm("encoder.layer.0.attention.output.LayerNorm");
    project("intermediate.dense", 6, 4);
    project("output.dense", 4, 6);
    norm("encoder.layer.0.output.LayerNorm");
  }
  ~ModelFolder() { llvm::sys::fs::remove_directories(path_); }

  json config, modules, poolingConfig;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, ElementType> types; // of those that are not float32

  void addModules(std::vector<const char *> kinds) {
    modules = json::array();
    const char *paths[] = {"", "1_Pooling", "2_Normalize"};
    for (size_t i = 0; i < kinds.size(); ++i)
      modules.push_back({{"idx", i}, {"name", std::to_string(i)}, {"path", paths[i]}, {"type", kinds[i]}});
    poolingConfig = {{"word_embedding_dimension", 4},
                     {"pooling_mode_cls_token", false},
                     {"pooling_mode_mean_tokens", true},
                     {"pooling_mode_max_tokens", false}};
  }

  /// Renames tensors whose name has `from` in it.
  void rename(const std::string &from, const std::string &to) {
    std::map<std::string, std::vector<int64_t>> renamed;
    for (auto &[old, shape] : shapes) {
      std::string name = old;
      if (size_t at = name.find(from); at != std::string::npos)
        name.replace(at, from.size(), to);
      renamed[name] = shape;
    }
    shapes = renamed;
  }

  llvm::Expected<ImportedBert> import(BertImportOptions options = {.name = "tiny", .ignored = {}}) {
    write("config.json", config.dump());
    if (!modules.is_null()) {
      write("modules.json", modules.dump());
      llvm::sys::fs::create_directories(path_ + "/1_Pooling");
      write("1_Pooling/config.json", poolingConfig.dump());
    }
    SafetensorsWriter writer;
    for (auto &[name, shape] : shapes) {
      std::vector<char> zeros(1024);
      auto type = types.find(name);
      writer.add(name, type == types.end() ? ElementType::F32 : type->second, shape, zeros.data());
    }
    EXPECT_FALSE(bool(writer.write(path_ + "/model.safetensors")));
    return importBert(path_, options);
  }

  /// The graph as text.
  std::string text() {
    llvm::Expected<ImportedBert> imported = import();
    if (!imported) {
      ADD_FAILURE() << llvm::toString(imported.takeError());
      return "";
    }
    std::optional<GraphModule> module = takeModule(std::move(imported->graph));
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->module->print(stream);
    return text;
  }

  /// What importing says, without the directory.
  std::string complaint(BertImportOptions options = {.name = "tiny", .ignored = {}}) {
    llvm::Expected<ImportedBert> imported = import(options);
    if (imported)
      return "";
    std::string message = llvm::toString(imported.takeError());
    for (size_t at; (at = message.find(path_ + "/")) != std::string::npos;)
      message.erase(at, path_.size() + 1);
    return message;
  }

private:
  void project(const std::string &name, int64_t outputs, int64_t inputs) {
    shapes["encoder.layer.0." + name + ".weight"] = {outputs, inputs};
    shapes["encoder.layer.0." + name + ".bias"] = {outputs};
  }
  void norm(const std::string &name) { shapes[name + ".weight"] = shapes[name + ".bias"] = {4}; }
  void write(const std::string &name, const std::string &text) { std::ofstream(path_ + "/" + name) << text; }

  std::string path_;
};

int count(const std::string &text, const std::string &part) {
  int number = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++number;
  return number;
}

// ---- What is made

TEST(Import, TakesTheSizesAndNamesOfTheModel) {
  std::string text = ModelFolder().text();
  EXPECT_THAT(text, HasSubstr("module @tiny"));
  EXPECT_THAT(text, HasSubstr(R"(%arg0: tensor<?x1xi32, #encoder.rows<"time", 5>> {encoder.name = "ids"})"));
  EXPECT_THAT(text, HasSubstr(R"("encoder.layer.0.intermediate.dense.weight" init "normal" : tensor<6x4xf32>)"));
  EXPECT_THAT(text, HasSubstr("heads 2"));
  EXPECT_EQ(count(text, "encoder.gelu "), 1);
  EXPECT_EQ(count(text, " out_in "), 6);
  EXPECT_EQ(count(text, "encoder.mean_over_time"), 0);
}

TEST(Import, KeepsTheModelsEps) {
  ModelFolder model;
  model.config["layer_norm_eps"] = 0.25;
  EXPECT_EQ(count(model.text(), "2.500000e-01 {"), 3);
}

TEST(Import, KnowsThreeActivations) {
  for (auto [name, op] : {std::pair("gelu", "encoder.gelu "), std::pair("gelu_new", "encoder.gelu_tanh "),
                          std::pair("relu", "encoder.relu ")}) {
    ModelFolder model;
    model.config["hidden_act"] = name;
    EXPECT_EQ(count(model.text(), op), 1) << name;
  }
}

TEST(Import, PoolsAndNormalizes) {
  ModelFolder mean;
  mean.addModules({transformer, pooling, normalize});
  std::string text = mean.text();
  EXPECT_EQ(count(text, "encoder.mean_over_time"), 1);
  EXPECT_EQ(count(text, "encoder.l2_normalize"), 1);
  EXPECT_THAT(text, HasSubstr(R"(-> (tensor<?x4xf32, #encoder.per_sequence> {encoder.name = "y"}))"));

  ModelFolder first;
  first.addModules({transformer, pooling});
  first.poolingConfig["pooling_mode_mean_tokens"] = false;
  first.poolingConfig["pooling_mode_cls_token"] = true;
  text = first.text();
  EXPECT_EQ(count(text, "encoder.first_step"), 1);
  EXPECT_EQ(count(text, "encoder.l2_normalize"), 0);
}

// Old files say gamma and beta, and files of a model with a head begin names with bert. (candle#1888).
TEST(Import, KeepsTheNamesOfTheFile) {
  ModelFolder model;
  model.rename("LayerNorm.weight", "LayerNorm.gamma");
  model.rename("LayerNorm.bias", "LayerNorm.beta");
  model.rename("embeddings.", "bert.embeddings.");
  model.rename("encoder.", "bert.encoder.");
  std::string text = model.text();
  EXPECT_EQ(count(text, "encoder.parameter \"bert."), int(model.shapes.size()));
  EXPECT_EQ(count(text, "LayerNorm.gamma\" init \"ones\""), 3);
  EXPECT_EQ(count(text, "LayerNorm.beta\" init \"zeros\""), 3);
}

TEST(Import, LeavesOtherTensorsAside) {
  ModelFolder model;
  model.shapes["embeddings.position_ids"] = {1, 5};
  model.types["embeddings.position_ids"] = ElementType::I64;
  model.shapes["pooler.dense.bias"] = {4};
  llvm::Expected<ImportedBert> imported = model.import();
  ASSERT_TRUE(bool(imported));
  EXPECT_THAT(imported->leftAside, ElementsAre("embeddings.position_ids", "pooler.dense.bias"));
}

TEST(Import, TakesHalfPrecision) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    ModelFolder model;
    for (auto &[name, shape] : model.shapes)
      model.types[name] = type;
    EXPECT_EQ(model.complaint(), "");
  }
}

// ---- What is refused

struct Refused {
  const char *name;
  void (*change)(ModelFolder &model);
  std::string complaint;
};

void PrintTo(const Refused &row, std::ostream *stream) { *stream << row.name; }

const Refused refusals[] = {
    {"another_family", [](ModelFolder &m) { m.config["model_type"] = "roberta"; },
     R"(config.json: 'model_type' is "roberta", expected "bert")"},
    {"relative_positions", [](ModelFolder &m) { m.config["position_embedding_type"] = "relative_key"; },
     R"(config.json: 'position_embedding_type' is "relative_key", expected "absolute")"},
    {"decoder", [](ModelFolder &m) { m.config["is_decoder"] = true; },
     "config.json: 'is_decoder' is true, expected false"},
    {"activation", [](ModelFolder &m) { m.config["hidden_act"] = "silu"; },
     R"(config.json: 'hidden_act' is "silu", expected gelu, gelu_new or relu)"},
    {"unknown_entry", [](ModelFolder &m) { m.config["rotary_base"] = 10000; },
     "config.json: 'rotary_base' is not known, and may change what the model computes"},
    {"missing_size", [](ModelFolder &m) { m.config.erase("vocab_size"); }, "config.json: 'vocab_size' is missing"},
    {"size_as_text", [](ModelFolder &m) { m.config["hidden_size"] = "4"; },
     R"(config.json: 'hidden_size' is "4", expected a whole number from 1)"},
    {"eps", [](ModelFolder &m) { m.config["layer_norm_eps"] = 0; },
     "config.json: 'layer_norm_eps' is 0, expected a positive number"},
    {"heads", [](ModelFolder &m) { m.config["num_attention_heads"] = 3; },
     "config.json: bert_encoder: 3 heads do not divide d_model 4"},
    {"missing_tensor", [](ModelFolder &m) { m.shapes.erase("encoder.layer.0.output.dense.bias"); },
     "model.safetensors: tensor 'encoder.layer.0.output.dense.bias' is missing"},
    {"no_word_embeddings", [](ModelFolder &m) { m.shapes.erase("embeddings.word_embeddings.weight"); },
     "model.safetensors: tensor 'embeddings.word_embeddings.weight' is missing, with and without the prefix 'bert.'"},
    {"shape",
     [](ModelFolder &m) {
       m.shapes["embeddings.word_embeddings.weight"] = {8, 4};
     },
     "model.safetensors: tensor 'embeddings.word_embeddings.weight' is f32[8,4], expected f32[7,4] by config.json"},
    {"type", [](ModelFolder &m) { m.types["embeddings.LayerNorm.bias"] = ElementType::I32; },
     "model.safetensors: tensor 'embeddings.LayerNorm.bias' is i32[4], expected f32[4] by config.json"},
    {"max_pooling",
     [](ModelFolder &m) {
       m.addModules({transformer, pooling});
       m.poolingConfig["pooling_mode_max_tokens"] = true;
     },
     "1_Pooling/config.json: 'pooling_mode_max_tokens' is true, expected mean or cls pooling"},
    {"two_poolings",
     [](ModelFolder &m) {
       m.addModules({transformer, pooling});
       m.poolingConfig["pooling_mode_cls_token"] = true;
     },
     "1_Pooling/config.json: 2 pooling modes are on, expected one of pooling_mode_mean_tokens and "
     "pooling_mode_cls_token"},
    {"another_module",
     [](ModelFolder &m) {
       m.addModules({transformer, pooling, "sentence_transformers.models.Dense"});
     },
     "modules.json: module 2 has 'type' \"sentence_transformers.models.Dense\", expected Transformer, Pooling and "
     "Normalize, in this order"},
};

class ImportRefuses : public testing::TestWithParam<Refused> {};

TEST_P(ImportRefuses, ByTheNameOfTheEntry) {
  ModelFolder model;
  GetParam().change(model);
  EXPECT_EQ(model.complaint(), GetParam().complaint);
}

INSTANTIATE_TEST_SUITE_P(, ImportRefuses, testing::ValuesIn(refusals),
                         [](const testing::TestParamInfo<Refused> &row) { return std::string(row.param.name); });

TEST(Import, PassesOverAnEntryOnlyWhenAsked) {
  ModelFolder model;
  model.config["embedding_note"] = "trained at home";
  EXPECT_THAT(model.complaint(), HasSubstr("'embedding_note' is not known"));
  EXPECT_EQ(model.complaint({.name = "tiny", .ignored = {"embedding_note"}}), "");
}

} // namespace
