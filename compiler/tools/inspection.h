// What `burin inspect` says of a model, as one JSON object; the text and the page are made from it, so that they cannot
// differ.
#pragma once

#include "emit/tuned_schedules.h"
#include "nlohmann/json.hpp"
#include "llvm/ADT/ArrayRef.h"

namespace burin {

struct EntryTimes;

/// The user's graph: inputs, outputs, parameters and ops. Needs a module that passed verify_graph and nothing more.
void describeGraph(mlir::ModuleOp module, nlohmann::ordered_json &report);

/// Entries, kernels, memory and work. Needs a module that went through all passes.
void describePlan(mlir::ModuleOp module, const ModelPlan &plan, const TunedSchedules &tuned,
                  nlohmann::ordered_json &report);

/// What was measured of entries and their kernels; without it the report says nothing of time.
void describeTimes(llvm::ArrayRef<EntryTimes> entries, nlohmann::ordered_json &report);

std::string inspectionText(const nlohmann::ordered_json &report);

/// One page that needs nothing else: no script, no network.
std::string inspectionHtml(const nlohmann::ordered_json &report);

} // namespace burin
