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
  if (tensor.rowsEach != 1)
    rows += "*" + std::to_string(tensor.rowsEach);
  std::string columns = tensor.columnsBy.empty() ? std::to_string(tensor.columns) : tensor.columnsBy;
  return nameOf(tensor.type).lower() + "[" + rows + "," + columns + "]";
}

static Json describeTensors(llvm::ArrayRef<EntryTensor> tensors) {
  Json list = Json::array();
  for (const EntryTensor &tensor : tensors)
    list.push_back({{"name", tensor.name}, {"shape", shapeOf(tensor)}});
  return list;
}

/// Lists the ops of a graph as a reader of it would: parameters and inputs by name, other ops by number, what stands in
/// a region one level below the op that it belongs to.
class OpList {
public:
  explicit OpList(func::FuncOp forward) {
    for (BlockArgument argument : forward.getArguments()) {
      auto name = forward.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute::name);
      names_[argument] = name ? name.str() : "positions";
    }
    add(forward.getBody().front(), 0);
  }

  Json list = Json::array();

private:
  /// Gives what the block's terminator takes.
  Json add(Block &block, int depth) {
    for (Operation &op : block.without_terminator()) {
      if (auto parameter = dyn_cast<ParameterOp>(op)) {
        names_[parameter] = parameter.getName().str();
        continue;
      }
      Json operands = operandsOf(op);
      for (Region &region : op.getRegions())
        for (const Json &yielded : add(region.front(), depth + 1))
          operands.push_back(yielded);
      std::string name = "%" + std::to_string(list.size());
      names_[op.getResult(0)] = name;
      auto scope = op.getAttrOfType<StringAttr>(attribute::scope);
      list.push_back({{"name", name},
                      {"op", op.getName().stripDialect().str()},
                      {"depth", depth},
                      {"operands", operands},
                      {"shape", describe(op.getResult(0).getType())},
                      {"scope", scope ? scope.str() : ""}});
    }
    return operandsOf(*block.getTerminator());
  }

  Json operandsOf(Operation &op) const {
    Json operands = Json::array();
    for (Value operand : op.getOperands())
      operands.push_back(names_.lookup(operand));
    return operands;
  }

  llvm::DenseMap<Value, std::string> names_;
};

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
  report["graph"] = OpList(module.lookupSymbol<func::FuncOp>("forward")).list;
}

// ---- The plan

static std::string axisName(const ModelPlan &plan, int axis) {
  return axis >= 0 ? plan.axes[axis].name : axis == BURIN_AXIS_SEQUENCE ? "sequence" : "call";
}

static std::string stateValueAt(const ModelPlan &plan, int64_t offset) {
  for (const PlanStateValue &value : plan.stateValues)
    if (value.offset == offset)
      return value.name;
  llvm_unreachable("calls name the plan's state values");
}

/// Where a call's results go: "scratch time+256", "output y", "state block0.attn.k_cache".
static Json writesOf(const ModelPlan &plan, const PlanEntry &entry, const PlanCall &call, func::FuncOp kernel) {
  size_t read = llvm::count_if(call.arguments, [](const PlanArgument &argument) {
    return argument.kind == BURIN_ARG_CONTEXT || argument.kind == BURIN_ARG_WEIGHTS;
  });
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    read += kernel.getArgAttr(index, attribute::weightOffset) ? 0 : 1;
  Json writes = Json::array();
  for (const PlanArgument &argument : llvm::ArrayRef(call.arguments).drop_front(read)) {
    if (argument.kind == BURIN_ARG_SCRATCH)
      writes.push_back("scratch " + axisName(plan, argument.rowAxis) + "+" + std::to_string(argument.offset));
    else if (argument.kind == BURIN_ARG_OUTPUT)
      writes.push_back("output " + entry.outputs[argument.index].name);
    else
      writes.push_back("state " + stateValueAt(plan, argument.offset));
  }
  return writes;
}

static Json describeEntry(const ModelPlan &plan, const PlanEntry &entry, func::FuncOp function, const std::string &name,
                          const RowCounts &rows) {
  auto module = function->getParentOfType<ModuleOp>();
  Json calls = Json::array();
  for (const PlanCall &call : entry.calls) {
    auto kernel = module.lookupSymbol<func::FuncOp>(call.kernel);
    calls.push_back({{"kernel", call.kernel},
                     {"per_sequence", call.perSequence},
                     {"guard", call.guard < 0 ? Json() : Json(call.guard)},
                     {"writes", writesOf(plan, entry, call, kernel)},
                     {"flops", flopsIn(kernel, rows)}});
  }
  Json scratch = Json::object(); // bytes per row of each axis
  for (auto [slot, bytes] : llvm::enumerate(entry.scratchRowBytes))
    if (bytes) {
      int axis = slot < BURIN_MAX_AXES ? int(slot) : slot == BURIN_MAX_AXES ? BURIN_AXIS_SEQUENCE : BURIN_AXIS_ONE;
      scratch[axisName(plan, axis)] = bytes;
    }
  Json guards = Json::array();
  for (const PlanGuard &guard : entry.guards)
    guards.push_back({{"open_above", guard.threshold}, {"parent", guard.parent < 0 ? Json() : Json(guard.parent)}});
  return {{"name", name},
          {"flops", flopsIn(function, rows)},
          {"scratch_bytes_per", scratch},
          {"guards", guards},
          {"calls", calls}};
}

/// An entry as users call it, beside its part of the plan.
struct NamedEntry {
  std::string name;
  const PlanEntry *entry;
  func::FuncOp function;
};

static std::vector<NamedEntry> namedEntries(ModuleOp module, const ModelPlan &plan) {
  std::vector<NamedEntry> entries{{"forward", &plan.forward, module.lookupSymbol<func::FuncOp>("forward")}};
  for (auto [number, stream] : llvm::enumerate(plan.streams)) {
    std::string append = "append_" + stream.name;
    entries.push_back({number == 0 ? "step" : append, &stream.one, entryOf(module, stream.name, /*many=*/false)});
    if (stream.many)
      entries.push_back({number == 0 ? "advance" : append + ", several rows", &*stream.many,
                         entryOf(module, stream.name, /*many=*/true)});
  }
  return entries;
}

/// The ops of a kernel in order, those of its groups in brackets.
static std::string opsOf(func::FuncOp kernel) {
  std::string text;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<func::ReturnOp>(op))
      continue;
    text += text.empty() ? "" : ", ";
    if (auto call = dyn_cast<func::CallOp>(op))
      text += "(" + opsOf(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr())) + ")";
    else
      text += op.getName().stripDialect().str();
  }
  return text;
}

static Json describeKernels(ModuleOp module, llvm::ArrayRef<NamedEntry> entries) {
  Json kernels = Json::array();
  for (const KernelText &kernel : kernelsOf(module)) {
    Json calls = Json::object(); // by entry
    for (const NamedEntry &entry : entries)
      calls[entry.name] =
          llvm::count_if(entry.entry->calls, [&](const PlanCall &call) { return call.kernel == kernel.function; });
    kernels.push_back({{"name", kernel.function},
                       {"class", kernel.kernelClass},
                       {"ops", opsOf(module.lookupSymbol<func::FuncOp>(kernel.function))},
                       {"calls", calls}});
  }
  return kernels;
}

static Json orNull(int64_t bound) { return bound < 0 ? Json() : Json(bound); }

void describePlan(ModuleOp module, const ModelPlan &plan, Json &report) {
  RowCounts rows;
  for (const PlanAxis &axis : plan.axes)
    rows[axis.name] = axis.maximum;
  report["target"] = plan.target->name.str();
  report["packed_weights_bytes"] = plan.weightsBytes;
  report["streams"] = Json::array();
  for (const PlanStream &stream : plan.streams)
    report["streams"].push_back({{"name", stream.name},
                                 {"capacity", orNull(stream.capacity)},
                                 {"position_end", orNull(stream.positionEnd)},
                                 {"most_rows_at_once", stream.many ? stream.mostRows : 1}});
  if (plan.streams.empty())
    report["no_step"] = plan.noStep;
  std::vector<NamedEntry> entries = namedEntries(module, plan);
  report["entries"] = Json::array();
  for (const NamedEntry &entry : entries)
    report["entries"].push_back(describeEntry(plan, *entry.entry, entry.function, entry.name, rows));
  report["kernels"] = describeKernels(module, entries);
  Json values = Json::array();
  for (const PlanStateValue &value : plan.stateValues)
    values.push_back({{"name", value.name},
                      {"stream", plan.streams[value.stream].name},
                      {"type", value.type == BURIN_F64 ? "f64" : "f32"},
                      {"rows", value.rows},
                      {"window", value.window},
                      {"features", value.features},
                      {"tile", value.tile},
                      {"offset", value.offset},
                      {"bytes", value.bytes}});
  report["state"] = {{"bytes", plan.stateBytes}, {"values", values}};
}

} // namespace burin
