#include "import/bert_config.h"
#include "tools/failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace burin {

namespace {

llvm::Expected<json> readJson(llvm::StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return failure(path + ": " + text.getError().message());
  json value =
      json::parse((*text)->getBuffer().begin(), (*text)->getBuffer().end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded())
    return failure(path + ": not JSON");
  return value;
}

llvm::Error refusal(llvm::StringRef path, llvm::StringRef entry, const json &value, const llvm::Twine &expected) {
  return failure(path + ": '" + entry + "' is " + value.dump() + ", expected " + expected);
}

/// Entries of config.json that say nothing about what the encoder computes: training, generation, labels, provenance.
constexpr llvm::StringLiteral withoutMeaning[] = {"_attn_implementation_autoset",
                                                  "_name_or_path",
                                                  "architectures",
                                                  "attention_probs_dropout_prob",
                                                  "bos_token_id",
                                                  "classifier_dropout",
                                                  "directionality",
                                                  "dtype",
                                                  "eos_token_id",
                                                  "finetuning_task",
                                                  "gradient_checkpointing",
                                                  "hidden_dropout_prob",
                                                  "id2label",
                                                  "initializer_range",
                                                  "label2id",
                                                  "max_seq_length",
                                                  "num_labels",
                                                  "output_attentions",
                                                  "output_hidden_states",
                                                  "output_past",
                                                  "pad_token_id",
                                                  "pooler_fc_size",
                                                  "pooler_num_attention_heads",
                                                  "pooler_num_fc_layers",
                                                  "pooler_size_per_head",
                                                  "pooler_type",
                                                  "problem_type",
                                                  "return_dict",
                                                  "sep_token_id",
                                                  "cls_token_id",
                                                  "mask_token_id",
                                                  "unk_token_id",
                                                  "tie_word_embeddings",
                                                  "tokenizer_class",
                                                  "torch_dtype",
                                                  "torchscript",
                                                  "transformers_version",
                                                  "use_cache",
                                                  "chunk_size_feed_forward"};

/// Entries that do change it, and the one value that is supported.
const std::pair<const char *, json> onlySupported[] = {
    {"model_type", "bert"},        {"position_embedding_type", "absolute"}, {"is_decoder", false},
    {"is_encoder_decoder", false}, {"add_cross_attention", false},          {"pruned_heads", json::object()},
};

llvm::Expected<int64_t> sizeIn(const json &config, llvm::StringRef path, const char *entry,
                               std::optional<int64_t> otherwise = std::nullopt) {
  auto found = config.find(entry);
  if (found == config.end() && otherwise)
    return *otherwise;
  if (found == config.end())
    return failure(path + ": '" + llvm::Twine(entry) + "' is missing");
  if (!found->is_number_integer() || *found < 1 || *found > INT32_MAX)
    return refusal(path, entry, *found, "a whole number from 1");
  return found->get<int64_t>();
}

llvm::Error checkEntries(const json &config, llvm::StringRef path, llvm::ArrayRef<std::string> used,
                         const std::vector<std::string> &ignored) {
  for (auto &[entry, value] : config.items()) {
    if (llvm::is_contained(used, entry) || llvm::is_contained(withoutMeaning, entry) ||
        llvm::is_contained(ignored, entry) || value.is_null())
      continue;
    auto supported = llvm::find_if(onlySupported, [&](auto &known) { return known.first == entry; });
    if (supported == std::end(onlySupported))
      return failure(path + ": '" + entry + "' is not known, and may change what the model computes");
    if (value != supported->second)
      return refusal(path, entry, value, supported->second.dump());
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<BertEncoderOptions> readBertConfig(llvm::StringRef path, const std::vector<std::string> &ignored) {
  llvm::Expected<json> config = readJson(path);
  if (!config)
    return config.takeError();
  if (!config->is_object())
    return failure(path + ": not an object");
  BertEncoderOptions options;
  const std::tuple<const char *, int64_t *, std::optional<int64_t>> sizes[] = {
      {"vocab_size", &options.vocabulary, {}},      {"hidden_size", &options.d_model, {}},
      {"num_attention_heads", &options.heads, {}},  {"intermediate_size", &options.d_ff, {}},
      {"num_hidden_layers", &options.depth, {}},    {"max_position_embeddings", &options.max_len, {}},
      {"type_vocab_size", &options.token_types, 2},
  };
  std::vector<std::string> used{"hidden_act", "layer_norm_eps"};
  for (auto &[entry, size, otherwise] : sizes)
    used.push_back(entry);
  if (llvm::Error error = checkEntries(*config, path, used, ignored)) // first: of another family, sizes say little
    return error;
  for (auto &[entry, size, otherwise] : sizes) {
    llvm::Expected<int64_t> value = sizeIn(*config, path, entry, otherwise);
    if (!value)
      return value.takeError();
    *size = *value;
  }
  json eps = config->value("layer_norm_eps", json(1e-12)), act = config->value("hidden_act", json("gelu"));
  if (!eps.is_number() || eps.get<double>() <= 0)
    return refusal(path, "layer_norm_eps", eps, "a positive number");
  options.eps = eps.get<double>();
  std::optional<Activation> activation = act.is_string() ? activationNamed(act.get<std::string>()) : std::nullopt;
  if (!activation)
    return refusal(path, "hidden_act", act, "gelu, gelu_new or relu");
  options.activation = *activation;
  return options;
}

// ---- sentence-transformers

static llvm::Error readPooling(llvm::StringRef path, SentenceModules &modules) {
  llvm::Expected<json> config = readJson(path);
  if (!config)
    return config.takeError();
  if (!config->is_object())
    return failure(path + ": not an object");
  const std::tuple<std::string, std::string, SentenceModules::Pooling> supported[] = {
      {"pooling_mode_mean_tokens", "mean", SentenceModules::mean},
      {"pooling_mode_cls_token", "cls", SentenceModules::first}};
  int chosen = 0;
  for (auto &[entry, value] : config->items()) {
    // `include_prompt` is about prompts in front of a text, which are the caller's to give.
    if (entry == "word_embedding_dimension" || entry == "embedding_dimension" || entry == "include_prompt")
      continue;
    if (value == false || value.is_null())
      continue;
    auto mode = llvm::find_if(supported, [&](auto &known) {
      return (std::get<0>(known) == entry && value == true) || (entry == "pooling_mode" && value == std::get<1>(known));
    });
    if (mode == std::end(supported))
      return refusal(path, entry, value, "mean or cls pooling");
    modules.pooling = std::get<2>(*mode);
    ++chosen;
  }
  if (chosen != 1)
    return failure(path + ": " + llvm::Twine(chosen) +
                   " pooling modes are on, expected one of "
                   "pooling_mode_mean_tokens and pooling_mode_cls_token");
  return llvm::Error::success();
}

llvm::Expected<SentenceModules> readSentenceModules(llvm::StringRef folder) {
  SentenceModules modules;
  auto below = [&](llvm::StringRef first, llvm::StringRef second = "") {
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, first);
    if (!second.empty()) // an empty component would end the path with a slash
      llvm::sys::path::append(path, second);
    return path.str().str();
  };
  std::string path = below("modules.json");
  if (!llvm::sys::fs::exists(path))
    return modules;
  llvm::Expected<json> list = readJson(path);
  if (!list)
    return list.takeError();
  if (!list->is_array())
    return failure(path + ": not a list");
  for (size_t index = 0; index < list->size(); ++index) {
    const json &module = (*list)[index];
    auto text = [&](const char *entry) {
      return module.is_object() && module.contains(entry) && module[entry].is_string()
                 ? module[entry].get<std::string>()
                 : std::string();
    };
    std::string type = text("type"), kind = llvm::StringRef(type).rsplit('.').second.str();
    auto misplaced = [&](const char *expected) {
      return failure(path + ": module " + llvm::Twine(index) + " has 'type' \"" + type + "\", expected " + expected);
    };
    if (index == 0) {
      if (kind != "Transformer")
        return misplaced("Transformer first");
      modules.encoderFolder = text("path");
    } else if (kind == "Pooling" && index == 1) {
      if (llvm::Error error = readPooling(below(text("path"), "config.json"), modules))
        return error;
    } else if (kind == "Normalize" && index == 2) {
      modules.normalize = true;
    } else {
      return misplaced("Transformer, Pooling and Normalize, in this order");
    }
  }
  return modules;
}

} // namespace burin
