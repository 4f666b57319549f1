// Recipes as text.
#include "recipe.h"
#include <stdexcept>

namespace burin::laws {

std::string textOf(const Recipe &recipe) {
  std::string text;
  for (const RecipeOp &op : recipe) {
    text += (text.empty() ? "" : " ") + op.name + "(";
    for (size_t i = 0; i < op.arguments.size(); ++i)
      text += (i ? "," : "") + std::to_string(op.arguments[i]);
    text += ")";
  }
  return text;
}

Recipe recipeOf(llvm::StringRef text) {
  Recipe recipe;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    auto [name, rest] = word.split('(');
    RecipeOp op{name.str(), {}};
    llvm::SmallVector<llvm::StringRef> numbers;
    bool isClosed = rest.consume_back(")");
    rest.split(numbers, ',');
    for (llvm::StringRef number : numbers)
      isClosed &= !number.getAsInteger(10, op.arguments.emplace_back());
    if (!isClosed)
      throw std::runtime_error("'" + word.str() + "' is no word of a recipe, expected name(number,…)");
    recipe.push_back(std::move(op));
  }
  return recipe;
}

} // namespace burin::laws
