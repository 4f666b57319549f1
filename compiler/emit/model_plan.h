// The plan of a model: what the runtime executes, as plain C++ data. Made from a module that went through all passes;
// emit/object.cpp writes it into the object as the structures of runtime/burin_plan.h, emit/header.cpp documents it.
#pragma once

#include "dialect/encoder.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/burin_plan.h"
#include "schedules/parallel_grain.h"
#include "schedules/targets.h"
#include "llvm/ADT/MapVector.h"
#include <string>
#include <vector>

namespace burin {

struct PlanArgument {
  int kind = 0, index = 0, type = BURIN_F32, rowAxis = BURIN_AXIS_NONE, columnAxis = BURIN_AXIS_NONE, rowsEach = 1;
  int tile = 0, ring = 0;
  int64_t columns = 0, offset = 0;
};

struct PlanGuard {
  PlanArgument signal;
  float threshold = 0;
  int parent = -1;
};

struct PlanCall {
  std::string kernel; // the kernel function's name in the module
  std::vector<PlanArgument> arguments;
  bool perSequence = false;
  int guard = -1;
  int splitAxis = 0, splitUnits = 0; // 0: one worker takes the call
  int64_t work = 0;                  // of a unit of splitAxis
};

struct PlanTensor {
  std::string name;
  int type = BURIN_F32, rowAxis = BURIN_AXIS_NONE, columnAxis = BURIN_AXIS_NONE;
  int64_t limit = 0; // ids: the values are at least 0 and below this
  int rowsEach = 1;
  int64_t columns = 0;
};

struct PlanEntry {
  std::vector<PlanCall> calls;
  std::vector<PlanTensor> inputs, outputs;
  std::vector<PlanGuard> guards;
  bool usesPositions = false;
  std::vector<int64_t> scratchRowBytes;
  int64_t kernelScratchBytes = 0; // filled in when the kernels are compiled, like the next
  int64_t kernelStackBytes = 0;   // most that the buffers of one of its kernels take of the stack
};

struct PlanStream {
  std::string name; // of its time symbol
  PlanEntry one;
  std::optional<PlanEntry> many;
  int axis = 0, mostRows = 1;
  int64_t capacity = -1, positionEnd = -1;
};

struct PlanAxis {
  std::string name;
  int64_t maximum;
};

struct PlanParameter {
  std::string name;
  std::vector<int64_t> shape;
};

struct PlanSegment {
  int parameter, layout;
  bool transposed = false;
  int64_t panel = 0, rows = 0, column = 0, destination = 0;
  int terms = 1, group = 0; // fewer bits than float32; the others int8
  int64_t columns = 0, scales = 0, sums = 0, corrections = -1;
};

struct PlanStateValue {
  std::string name;
  int type = BURIN_F32, tile = 0, stream = 0;
  int64_t rows = 0, window = 0, features = 0, offset = 0, bytes = 0;
};

struct ModelPlan {
  std::string name;
  const Target *target = nullptr;
  uint64_t fingerprint = 0;
  uint64_t graph = 0; // fingerprint of the graph alone
  std::vector<PlanAxis> axes;
  std::vector<PlanParameter> parameters;
  std::vector<PlanSegment> segments;
  std::vector<PlanStateValue> stateValues;
  PlanEntry forward;
  std::vector<PlanStream> streams; // the first is step's; none: there is no step
  std::string noStep;              // why
  int64_t weightsBytes = 0, stateBytes = 0;
  ParallelGrain grain; // derived, unless a record says otherwise (emit/tuned_schedules.h)
};

/// The plan of a module after buildPipeline for `target`.
ModelPlan makePlan(mlir::ModuleOp module, const Target &target);

/// A kernel as a module of its own, in text that is equal for equal kernels: what a worker compiles and a cache keys.
struct KernelText {
  std::string function; // its name in the module
  std::string kernelClass;
  std::string text;
};
std::vector<KernelText> kernelsOf(mlir::ModuleOp module);

} // namespace burin
