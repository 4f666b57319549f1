// Recipes at random: phrases of a few words that belong together, each taken where the graph so far can have it.
//
// Nearly all of a graph's time is that of compiling its kernels, and equal kernels are compiled once. So that there are
// more of them, graphs of neighbouring seeds (recipe.h) have their sizes from the same few, and differ in what they do
// with them.
#include "declaration.h"
#include "tools/initial_values.h"
#include <stdexcept>

namespace burin::laws {

namespace {

/// The sizes that the graphs of some seeds have.
struct Sizes {
  int64_t widths[3], ofHeads[2], windows[2];

  explicit Sizes(uint64_t number) {
    RandomStream random(number, "sizes");
    draw(random, widths, {1, 3, 5, 8, 10, 16, 33});
    draw(random, ofHeads, {1, 2, 3, 4, 5, 6, 7, 8});
    draw(random, windows, {1, 2, 5, 31, 33, 200});
  }

private:
  template <size_t count>
  static void draw(RandomStream &random, int64_t (&some)[count], std::initializer_list<int64_t> all) {
    std::vector<int64_t> left = all;
    for (int64_t &one : some) {
      auto drawn = left.begin() + int64_t(random.next() % left.size());
      one = *drawn;
      left.erase(drawn);
    }
  }
};

class Author {
public:
  explicit Author(uint64_t seed) : random_(seed, "recipe"), sizes_(seed / seedsOfEqualSizes) {}

  Recipe write() {
    const bool hasContext = chance(3);
    add({"rows", {timeAxis, width()}});
    if (hasContext)
      add({"rows", {contextAxis, width()}});
    // A seed whose last words were refused has fewer of them.
    for (int64_t phrases = 1 + below(5); phrases > 0; --phrases) {
      Recipe before = recipe_;
      try {
        phrase();
        declared();
      } catch (const std::runtime_error &) {
        recipe_ = before;
      }
    }
    // Rows of the context that nothing looks at would be outputs, and the graph one without a step.
    std::vector<Known> values = declared();
    for (size_t i = 0; i < values.size() && !chance(8); ++i)
      if (values[i].axis == contextAxis && !values[i].isUsed && values[i].form == Form::rows)
        lookAt(pick([](const Known &x) { return x.form == Form::rows && x.axis == timeAxis; }), int64_t(i), false);
    graphOf(recipe_, "");
    return recipe_;
  }

private:
  int64_t below(int64_t end) { return int64_t(random_.next() % uint64_t(end)); }
  bool chance(int64_t in) { return below(in) == 0; }
  int64_t width() { return one(sizes_.widths); }
  template <size_t count> int64_t one(const int64_t (&sizes)[count]) { return sizes[below(int64_t(count))]; }

  int64_t add(RecipeOp op) {
    recipe_.push_back(std::move(op));
    return int64_t(recipe_.size()) - 1;
  }
  std::vector<Known> declared() const { return valuesOf(recipe_); }
  /// A value like that, one of the last where there are many; throws where there is none.
  int64_t pick(llvm::function_ref<bool(const Known &)> isWanted) {
    std::vector<Known> values = declared();
    std::vector<int64_t> found;
    for (size_t i = 0; i < values.size(); ++i)
      if (isWanted(values[i]))
        found.push_back(int64_t(i));
    if (found.empty())
      throw std::runtime_error("there is no such value");
    size_t many = std::min<size_t>(found.size(), 4);
    return found[found.size() - 1 - size_t(below(int64_t(many)))];
  }
  int64_t rows() {
    return pick([](const Known &x) { return x.form == Form::rows || x.form == Form::perSequence; });
  }
  int64_t sequence() {
    return pick([](const Known &x) { return x.form == Form::rows; });
  }
  int64_t dense(int64_t x, int64_t outputs) { return add({"dense", {x, outputs, below(2), below(2)}}); }

  /// q sees k and v of the values `from` and `to`, projected or as they are.
  int64_t lookAt(int64_t from, int64_t to, bool mayBeMasked) {
    std::vector<Known> values = declared();
    const int64_t heads = 1 + below(3), d_k = heads * one(sizes_.ofHeads), d_v = heads * one(sizes_.ofHeads);
    int64_t q = dense(from, d_k), k = dense(to, d_k), v = dense(to, d_v);
    const bool isOne = values[from].axis == values[to].axis, masked = mayBeMasked && chance(5);
    const bool causal = isOne ? !chance(5) : mayBeMasked && chance(6);
    const int64_t window = (causal || mayBeMasked) && chance(3) && (causal || chance(4)) ? one(sizes_.windows) : 0;
    return add({"attention", {q, k, v, heads, causal, window, masked}});
  }

  /// A word, or a few that belong together.
  void phrase() {
    const auto isSequence = [](const Known &x) { return x.form == Form::rows; };
    switch (below(19)) {
    case 0:
    case 1:
      dense(rows(), width());
      break;
    case 2: {
      int64_t a = rows();
      Known its = declared()[a];
      int64_t b =
          pick([&](const Known &x) { return x.form == its.form && x.axis == its.axis && x.features == its.features; });
      add({"add", {a, b}});
      break;
    }
    case 3:
      add({"add_row", {rows(), 3, below(3)}});
      break;
    case 4: {
      constexpr const char *functions[] = {"relu", "gelu", "gelu_tanh", "dropout"};
      add({functions[below(4)], {rows()}});
      break;
    }
    case 5: {
      int64_t x = rows(), features = declared()[x].features, size = std::min(width(), features);
      add({"slice", {x, chance(2) ? 0 : below(features - size + 1), size}});
      break;
    }
    case 6:
    case 7:
      add({"layer_norm", {rows()}});
      break;
    case 8:
      add({"l2_normalize", {rows()}});
      break;
    case 9:
      add({"sinusoidal_positions", {dense(sequence(), 2 * one(sizes_.ofHeads))}});
      break;
    case 10:
      add({"learned_positions", {sequence(), below(2) * 5}});
      break;
    case 11:
      add({chance(2) ? "mean_over_time" : "first_step", {sequence()}});
      break;
    case 12: { // ids of the time axis join what is there
      int64_t x = sequence();
      Known its = declared()[x];
      int64_t table = add({"embedding", {add({"ids", {its.axis}}), 7, its.features}});
      add({"add", {x, table}});
      break;
    }
    case 13: { // a residual layer
      int64_t x = rows(), hidden = add({"relu", {dense(x, width())}});
      add({"layer_norm", {add({"add", {x, dense(hidden, declared()[x].features)}})}});
      break;
    }
    case 14: {
      int64_t keys = sequence(), features = declared()[keys].features;
      add({"attention", {add({"latents", {1 + below(5), features}}), keys, keys, 1, 0, 0, 0}});
      break;
    }
    case 15: { // keys and values that were trained
      int64_t x = sequence(), features = declared()[x].features;
      int64_t k = add({"latents", {5, features}}), v = add({"latents", {5, width()}});
      add({"attention", {x, k, v, 1, 0, 0, 0}});
      break;
    }
    case 16:
      if (chance(2))
        add({"gate", {sequence(), width()}});
      else
        add({"gated_attention", {sequence(), pick(isSequence), 1}});
      break;
    default: {
      int64_t from = sequence(), axis = declared()[from].axis;
      int64_t to =
          chance(3) ? sequence() : pick([&](const Known &x) { return x.form == Form::rows && x.axis == axis; });
      lookAt(from, to, /*mayBeMasked=*/true);
    }
    }
  }

  RandomStream random_;
  const Sizes sizes_;
  Recipe recipe_;
};

} // namespace

Recipe randomRecipe(uint64_t seed) { return Author(seed).write(); }

} // namespace burin::laws
