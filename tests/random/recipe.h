// A graph as a short text: an op after another, each with numbers that say which earlier values it takes and how.
//
//     rows(time,5) dense(0,33,1,0) attend(1,1,1,3,1,5,0)
//
// Random graphs are made as recipes, and not as DSL calls, so that a failing one can be printed, made smaller by
// leaving out words and lowering numbers, and run again. A recipe need not be valid: what cannot be declared is refused
// with a reason, which is all that a program that shrinks recipes needs.
//
// Every value that no other op takes is an output, so leaving out an op leaves a graph with other outputs.
#pragma once

#include "law_graphs.h"

namespace burin::laws {

struct RecipeOp {
  std::string name;
  std::vector<int64_t> arguments;
};

using Recipe = std::vector<RecipeOp>;

/// So many seeds, from a multiple of it on, have graphs of the same few sizes.
inline constexpr uint64_t seedsOfEqualSizes = 250;
/// The same recipe for the same seed, on every machine.
Recipe randomRecipe(uint64_t seed);

std::string textOf(const Recipe &recipe);
/// Throws where the text is not of this form.
Recipe recipeOf(llvm::StringRef text);

/// The graph with what the laws need to know of it, which is worked out from the recipe and not asked of the compiler.
/// Throws std::runtime_error, with the reason, where the recipe is not valid.
LawGraph graphOf(const Recipe &recipe, std::string name);

} // namespace burin::laws
