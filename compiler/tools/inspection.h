// What `burin inspect` says of a model, as one JSON object; the text is made from it, so that the two cannot differ.
#pragma once

#include "emit/model_plan.h"
#include "nlohmann/json.hpp"

namespace burin {

/// The user's graph: inputs, outputs, parameters and ops. Needs a module that passed verify_graph and nothing more.
void describeGraph(mlir::ModuleOp module, nlohmann::ordered_json &report);

/// Entries, kernels, memory and work. Needs a module that went through all passes.
void describePlan(mlir::ModuleOp module, const ModelPlan &plan, nlohmann::ordered_json &report);

std::string inspectionText(const nlohmann::ordered_json &report);

} // namespace burin
