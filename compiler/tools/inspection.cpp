#include "tools/inspection.h"
#include "passes/passes.h"
#include "tools/graph_signature.h"
#include "tools/work.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace burin {

// ---- The graph

static std::string shapeOf(const EntryTensor &tensor) {
  std::string rows = tensor.rows.empty() ? "sequence" : tensor.rows;
  std::string columns = tensor.columnsBy.empty() ? std::to_string(tensor.columns) : tensor.columnsBy;
  return nameOf(tensor.type).lower() + "[" + rows + "," + columns + "]";
}

static Json describeTensors(llvm::ArrayRef<EntryTensor> tensors) {
  Json list = Json::array();
  for (const EntryTensor &tensor : tensors)
    list.push_back({{"name", tensor.name}, {"shape", shapeOf(tensor)}});
  return list;
}

/// What an op reads, as a reader of the graph would say it: parameters and inputs by name, other ops by number.
static Json operandsOf(Operation &op, const llvm::DenseMap<Value, std::string> &names) {
  Json operands = Json::array();
  for (Value operand : op.getOperands())
    operands.push_back(names.lookup(operand));
  return operands;
}

static Json describeOps(func::FuncOp forward) {
  llvm::DenseMap<Value, std::string> names;
  for (BlockArgument argument : forward.getArguments()) {
    auto name = forward.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute::name);
    names[argument] = name ? name.str() : "positions";
  }
  Json ops = Json::array();
  for (Operation &op : forward.getBody().front()) {
    if (op.getNumResults() == 0)
      continue;
    if (auto parameter = dyn_cast<ParameterOp>(op)) {
      names[parameter] = parameter.getName().str();
      continue;
    }
    std::string name = "%" + std::to_string(ops.size());
    names[op.getResult(0)] = name;
    auto scope = op.getAttrOfType<StringAttr>(attribute::scope);
    ops.push_back({{"name", name},
                   {"op", op.getName().stripDialect().str()},
                   {"operands", operandsOf(op, names)},
                   {"shape", describe(op.getResult(0).getType())},
                   {"scope", scope ? scope.str() : ""}});
  }
  return ops;
}

void describeGraph(ModuleOp module, Json &report) {
  GraphSignature signature = signatureOf(module);
  report["model"] = module.getName()->str();
  report["time"] = Json::array();
  for (const Axis &axis : signature.axes)
    report["time"].push_back({{"name", axis.name}, {"max", axis.maximum}});
  report["inputs"] = describeTensors(signature.inputs);
  report["outputs"] = describeTensors(signature.outputs);
  int64_t values = 0;
  for (const Parameter &parameter : signature.parameters) {
    int64_t count = 1;
    for (int64_t extent : parameter.shape)
      count *= extent;
    values += count;
  }
  report["parameters"] = {{"count", signature.parameters.size()}, {"values", values}};
  report["graph"] = describeOps(module.lookupSymbol<func::FuncOp>("forward"));
}

// ---- The plan

static std::string axisName(const ModelPlan &plan, int axis) {
  return axis >= 0 ? plan.axes[axis].name : axis == BURIN_AXIS_SEQUENCE ? "sequence" : "call";
}

/// Where a call's results go: "scratch time+256", "output y", "state row block0.attn.k_cache".
static Json writesOf(const ModelPlan &plan, const PlanEntry &entry, const PlanCall &call, size_t resultCount) {
  Json writes = Json::array();
  llvm::ArrayRef<PlanArgument> arguments = call.arguments;
  size_t firstResult = arguments.size() - resultCount;
  for (const PlanArgument &argument : arguments.drop_front(firstResult)) {
    if (argument.kind == BURIN_ARG_SCRATCH)
      writes.push_back("scratch " + axisName(plan, argument.rowAxis) + "+" + std::to_string(argument.offset));
    else if (argument.kind == BURIN_ARG_OUTPUT)
      writes.push_back("output " + entry.outputs[argument.index].name);
    else
      writes.push_back("state");
  }
  return writes;
}

static Json describeEntry(ModuleOp module, const ModelPlan &plan, const PlanEntry &entry, llvm::StringRef name,
                          const RowCounts &rows) {
  Json calls = Json::array();
  for (const PlanCall &call : entry.calls) {
    auto kernel = module.lookupSymbol<func::FuncOp>(call.kernel);
    size_t stateWrites = 0; // stand behind the results
    for (const PlanArgument &argument : llvm::reverse(call.arguments)) {
      if (argument.kind != BURIN_ARG_STATE && argument.kind != BURIN_ARG_STATE_ROW)
        break;
      ++stateWrites;
    }
    calls.push_back({{"kernel", call.kernel},
                     {"per_sequence", call.perSequence},
                     {"writes", writesOf(plan, entry, call, kernel.getNumResults() + stateWrites)},
                     {"flops", flopsIn(kernel, rows)}});
  }
  Json scratch = Json::object(); // bytes per row of each axis
  for (auto [slot, bytes] : llvm::enumerate(entry.scratchRowBytes))
    if (bytes) {
      int axis = slot < BURIN_MAX_AXES ? int(slot) : slot == BURIN_MAX_AXES ? BURIN_AXIS_SEQUENCE : BURIN_AXIS_ONE;
      scratch[axisName(plan, axis)] = bytes;
    }
  return {{"flops", flopsIn(module.lookupSymbol<func::FuncOp>(name), rows)},
          {"scratch_bytes_per", scratch},
          {"calls", calls}};
}

/// The ops of a kernel in order, those of its groups in brackets.
static std::string opsOf(func::FuncOp kernel) {
  std::string text;
  for (Operation &op : kernel.getBody().front()) {
    if (op.getNumResults() == 0)
      continue;
    text += text.empty() ? "" : ", ";
    if (auto call = dyn_cast<func::CallOp>(op))
      text += "(" + opsOf(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr())) + ")";
    else
      text += op.getName().stripDialect().str();
  }
  return text;
}

static Json describeKernels(ModuleOp module, const ModelPlan &plan) {
  Json kernels = Json::array();
  for (const KernelText &kernel : kernelsOf(module)) {
    auto callsIn = [&](const PlanEntry &entry) {
      return llvm::count_if(entry.calls, [&](const PlanCall &call) { return call.kernel == kernel.function; });
    };
    kernels.push_back({{"name", kernel.function},
                       {"class", kernel.kernelClass},
                       {"ops", opsOf(module.lookupSymbol<func::FuncOp>(kernel.function))},
                       {"calls_in_forward", callsIn(plan.forward)},
                       {"calls_in_step", plan.step ? callsIn(*plan.step) : 0}});
  }
  return kernels;
}

void describePlan(ModuleOp module, const ModelPlan &plan, Json &report) {
  RowCounts rows;
  for (const PlanAxis &axis : plan.axes)
    rows[axis.name] = axis.maximum;
  report["target"] = plan.target->name.str();
  report["packed_weights_bytes"] = plan.weightsBytes;
  report["forward"] = describeEntry(module, plan, plan.forward, "forward", rows);
  if (plan.step)
    report["step"] = describeEntry(module, plan, *plan.step, "step", rows);
  else
    report["no_step"] = plan.noStep;
  report["kernels"] = describeKernels(module, plan);
  Json values = Json::array();
  for (const PlanStateValue &value : plan.stateValues)
    values.push_back({{"name", value.name},
                      {"type", value.type == BURIN_F64 ? "f64" : "f32"},
                      {"rows", value.rows},
                      {"features", value.features},
                      {"tile", value.tile},
                      {"offset", value.offset},
                      {"bytes", value.bytes}});
  report["state"] = {{"bytes", plan.stateBytes}, {"values", values}};
}

} // namespace burin
