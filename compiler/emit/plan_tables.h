// A model's plan in this process's memory, as the runtime takes it: what emit/object.cpp writes into the object, but
// without kernels. For what needs the tables and cannot load the object: packing weights for any target, and calling a
// model that runs in an emulator.
#pragma once

#include "emit/model_plan.h"
#include "llvm/Support/Allocator.h"

namespace burin {

class PlanTables {
public:
  explicit PlanTables(const ModelPlan &plan);
  PlanTables(const PlanTables &) = delete;
  PlanTables &operator=(const PlanTables &) = delete;

  /// Lives as long as this. Its calls have null for a kernel, whose name is the function's in the module.
  const burin_plan *table() const { return table_; }

private:
  llvm::BumpPtrAllocator memory_;
  const burin_plan *table_;
};

} // namespace burin
