#include "emit/split.h"
#include "emit/model_plan.h"
#include "emit/weight_views.h"

using namespace mlir;

namespace burin {

/// Of an elementwise op or a reduction, for each feature, beside what the op counts itself. Measured, roughly: a vector
/// of features takes as long as some vectors' multiply-adds.
static constexpr int64_t workOfFeature = 8;

static KernelClass classOf(func::FuncOp kernel) {
  return *kernelClassNamed(kernel->getAttrOfType<StringAttr>(attribute::kernel).getValue());
}

bool takesFirstTile(func::FuncOp kernel, const Target &target) {
  return target.device.empty() && classOf(kernel) == KernelClass::Attend && kernel.getNumResults() == 1 &&
         rowsOf(kernel.getResultTypes()[0]);
}

/// Floating-point operations for one row; where rows look at others, for one that they look at.
static int64_t workOfRow(func::FuncOp kernel) {
  double work = 0;
  for (Operation &op : kernel.getBody().front())
    if (auto kernelOp = dyn_cast<KernelOpInterface>(op)) {
      work += kernelOp.getFlops(SmallVector<double>(op.getNumOperands(), 1));
      if (op.getNumResults() && isRows(op.getResult(0).getType()))
        work += double(workOfFeature * featuresOf(op.getResult(0).getType()));
    }
  return int64_t(work);
}

/// Rows that a register tile of the kernel's contract has: fewer cost as much.
static int64_t tileRowsOf(func::FuncOp kernel, const Target &target) {
  int64_t rows = 1;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (auto panel = kernel.getArgAttrOfType<IntegerAttr>(i, attribute::panel))
      rows = std::max(rows, rowTile(target, precisionOfArgument(kernel, i), panel.getInt()));
  return rows;
}

static bool isBuffer(const PlanArgument &argument) {
  return argument.kind == BURIN_ARG_INPUT || argument.kind == BURIN_ARG_OUTPUT || argument.kind == BURIN_ARG_SCRATCH ||
         argument.kind == BURIN_ARG_POSITIONS;
}

/// What all rows of the call count, other than those of which there is a fixed number; none where they count several
/// things.
static int commonAxis(const PlanCall &call) {
  int axis = BURIN_AXIS_NONE;
  for (const PlanArgument &argument : call.arguments) {
    if (!isBuffer(argument) || argument.rowAxis == BURIN_AXIS_ONE)
      continue;
    if (argument.columnAxis >= 0 || (axis != BURIN_AXIS_NONE && axis != argument.rowAxis))
      return BURIN_AXIS_NONE;
    axis = argument.rowAxis;
  }
  // Of results with a fixed number of rows every worker would write all.
  return call.arguments.back().rowAxis == axis ? axis : BURIN_AXIS_NONE;
}

void decideSplit(func::FuncOp kernel, const Target &target, PlanCall &call) {
  KernelClass kernelClass = classOf(kernel);
  if (kernelClass == KernelClass::Whole || !target.device.empty())
    return; // small by definition, or split among the blocks of a GPU
  if (!call.perSequence) {
    call.splitAxis = commonAxis(call);
    call.splitUnits = call.splitAxis == BURIN_AXIS_NONE ? 0 : int(tileRowsOf(kernel, target));
  } else if (takesFirstTile(kernel, target)) {
    call.splitAxis = call.arguments.back().rowAxis;
    call.splitUnits = queryTileRows;
  } else {
    call.splitAxis = BURIN_AXIS_SEQUENCE;
    call.splitUnits = 1;
  }
  if (call.splitUnits)
    call.work = workOfRow(kernel);
}

} // namespace burin
