// What is known of each value of a recipe: random recipes are made by it, and the facts for the laws follow from it.
#pragma once

#include "recipe.h"

namespace burin::laws {

enum Axis { timeAxis = 0, contextAxis = 1, noAxis = -1 };
enum class Form { rows, perSequence, latents, ids };
inline constexpr int64_t unbounded = -1;

/// A value of a recipe and what is known of it.
struct Known {
  Form form = Form::rows;
  int axis = timeAxis;
  int64_t features = 1;
  int64_t reach = 1;        // last rows that a row depends on; unbounded: all
  bool seesContext = false; // a row depends on rows of the other axis
  bool isInput = false;
  bool isUsed = false;
  Tensor tensor = {};
};

/// A value for each word; their tensors are of a graph that is gone. Throws where the recipe is not valid.
std::vector<Known> valuesOf(const Recipe &recipe);

} // namespace burin::laws
