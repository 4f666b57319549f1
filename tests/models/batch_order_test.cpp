// Texts in a batch do not know their neighbours: in any order, beside an empty one, each has the bits it has alone.
#include "import/bert.h"
#include "tools/compiled_model.h"
#include "tools/graph_source.h"
#include "tools/initial_values.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <algorithm>

using namespace burin;

namespace {

using Text = std::vector<int32_t>;

template <typename T> T valueOf(llvm::Expected<T> result) {
  if (!result)
    throw std::runtime_error(llvm::toString(result.takeError()));
  return std::move(*result);
}

std::unique_ptr<CompiledModel> openMiniLm(const std::string &folder) {
  ImportedBert imported = valueOf(importBert(folder, {.name = "minilm", .ignored = {}}));
  std::optional<GraphModule> module = takeModuleOrPrint(std::move(imported.graph));
  LoadedGraph graph = valueOf(LoadedGraph::adopt(std::move(*module), "minilm"));
  Progress progress("compiling");
  std::unique_ptr<CompiledModel> model = valueOf(CompiledModel::compile(graph.module(), "host", 0, progress));
  if (llvm::Error error = model->openFile(folder + "/model.safetensors", /*allowExtraTensors=*/true))
    throw std::runtime_error(llvm::toString(std::move(error)));
  return model;
}

/// A row for each text, in the order in which they are given.
std::vector<std::vector<float>> embed(CompiledModel &model, const std::vector<const Text *> &texts) {
  std::vector<int64_t> offsets{0};
  Text ids;
  for (const Text *text : texts) {
    llvm::append_range(ids, *text);
    offsets.push_back(int64_t(ids.size()));
  }
  std::vector<float> rows = valueOf(model.forwardBatch({offsets}, {ids.data()}))[0];
  size_t width = rows.size() / texts.size();
  std::vector<std::vector<float>> vectors;
  for (size_t text = 0; text < texts.size(); ++text)
    vectors.emplace_back(rows.begin() + text * width, rows.begin() + (text + 1) * width);
  return vectors;
}

TEST(MiniLm, GivesTheSameBitsIn20OrdersOf200Texts) {
  const char *folder = std::getenv("BURIN_MINILM");
  if (!folder)
    GTEST_SKIP() << "BURIN_MINILM names no model directory";
  std::unique_ptr<CompiledModel> model = openMiniLm(folder);
  RandomStream random(1, "texts");
  std::vector<Text> texts(200);
  for (size_t text = 0; text < texts.size(); ++text) {
    texts[text].resize(text == 0 ? 512 : text == 1 ? 0 : random.next() % 32);
    for (int32_t &id : texts[text])
      id = int32_t(random.next() % 30522);
  }
  std::vector<std::vector<float>> alone;
  for (const Text &text : texts)
    alone.push_back(embed(*model, {&text})[0]);
  EXPECT_EQ(alone[1], std::vector<float>(384)); // of no tokens

  std::vector<size_t> order(texts.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  for (int round = 0; round < 20; ++round) {
    for (size_t i = order.size() - 1; i > 0; --i) // Fisher and Yates
      std::swap(order[i], order[random.next() % (i + 1)]);
    std::vector<const Text *> shuffled;
    for (size_t i : order)
      shuffled.push_back(&texts[i]);
    std::vector<std::vector<float>> got = embed(*model, shuffled);
    for (size_t i = 0; i < order.size(); ++i)
      ASSERT_EQ(got[i], alone[order[i]]) << "round " << round << ", text " << order[i] << " in place " << i;
  }
}

// The values of mlx-transformers issue 23 for these ids, which a longer text beside them must not change.
TEST(MiniLm, GivesThePublishedVectorAloneAndBesideALongerText) {
  const char *folder = std::getenv("BURIN_MINILM");
  if (!folder)
    GTEST_SKIP() << "BURIN_MINILM names no model directory";
  std::unique_ptr<CompiledModel> model = openMiniLm(folder);
  Text sentence{101, 2169, 6251, 2003, 4991, 102}, longer(40, 2023);
  for (const std::vector<float> &vector : {embed(*model, {&sentence})[0], embed(*model, {&longer, &sentence})[1]}) {
    EXPECT_NEAR(vector[0], 0.086439, 2e-6);
    EXPECT_NEAR(vector[1], 0.102763, 2e-6);
    EXPECT_NEAR(vector[2], 0.005395, 2e-6);
  }
}

} // namespace
