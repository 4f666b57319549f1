#include "tools/inspection.h"
#include "passes/passes.h"
#include "schedules/tuner/row_buckets.h"
#include "tools/graph_bench.h"
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

/// A shape in as few words as there are: ["time", 64], ["sequence * 2", 8].
static Json extentsOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (!isRows(type))
    return Json(std::vector<int64_t>(tensor.getShape()));
  RowsAttr rows = rowsOf(type);
  bool perSequence = isa_and_nonnull<PerSequenceAttr>(tensor.getEncoding());
  std::string counted = rows ? rows.getSymbol().str() : perSequence ? "sequence" : "";
  if (counted.empty())
    return {rowsEach(type), featuresOf(type)};
  if (rowsEach(type) != 1)
    counted += " * " + std::to_string(rowsEach(type));
  return {counted, featuresOf(type)};
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
    Block &body = forward.getBody().front();
    add(body, 0);
    for (Value output : body.getTerminator()->getOperands())
      outputs.push_back(sourceOf(output));
  }

  Json list = Json::array();
  Json outputs = Json::array(); // where each comes from

private:
  void add(Block &block, int depth) {
    for (Operation &op : block.without_terminator()) {
      if (auto parameter = dyn_cast<ParameterOp>(op)) {
        names_[parameter] = parameter.getName().str();
        continue;
      }
      SmallVector<Value> read(op.getOperands());
      for (Region &region : op.getRegions()) {
        add(region.front(), depth + 1);
        llvm::append_range(read, region.front().getTerminator()->getOperands());
      }
      std::string name = "%" + std::to_string(list.size());
      Value result = op.getResult(0);
      names_[result] = name;
      numbers_[result] = list.size();
      Json operands = Json::array(), reads = Json::array();
      int64_t parameterBytes = 0;
      for (Value operand : read) {
        operands.push_back(names_.lookup(operand));
        reads.push_back(sourceOf(operand));
        if (operand.getDefiningOp<ParameterOp>())
          parameterBytes += cast<ShapedType>(operand.getType()).getNumElements() * 4;
      }
      auto kernelOp = dyn_cast<KernelOpInterface>(op);
      auto scope = op.getAttrOfType<StringAttr>(attribute::scope);
      list.push_back({{"name", name},
                      {"op", op.getName().stripDialect().str()},
                      {"class", kernelOp ? kernelClassName(kernelOp.getKernelClass()).str() : ""},
                      {"depth", depth},
                      {"operands", operands},
                      {"reads", reads},
                      {"shape", describe(result.getType())},
                      {"extents", extentsOf(result.getType())},
                      {"scope", scope ? scope.str() : ""},
                      {"flops", flopsOf(&op, {})},
                      {"parameter_bytes", parameterBytes}});
    }
  }

  /// An edge's beginning: {"op": 3}, {"input": "x"}, {"parameter": "W"}.
  Json sourceOf(Value value) const {
    if (auto number = numbers_.find(value); number != numbers_.end())
      return {{"op", number->second}};
    return {{isa<BlockArgument>(value) ? "input" : "parameter", names_.lookup(value)}};
  }

  llvm::DenseMap<Value, std::string> names_;
  llvm::DenseMap<Value, size_t> numbers_; // of ops
};

void describeGraph(ModuleOp module, Json &report) {
  GraphSignature signature = signatureOf(module);
  report["model"] = module.getName()->str();
  report["record"] = graphName(module); // what records of its entries name it by
  report["time"] = Json::array();
  for (const Axis &axis : signature.axes)
    report["time"].push_back({{"name", axis.name}, {"max", axis.maximum}});
  report["inputs"] = describeTensors(signature.inputs);
  report["outputs"] = describeTensors(signature.outputs);
  int64_t values = 0;
  for (const GraphParameter &parameter : signature.parameters) {
    int64_t count = 1;
    for (int64_t extent : parameter.shape)
      count *= extent;
    values += count;
  }
  report["parameters"] = {{"count", signature.parameters.size()}, {"values", values}};
  OpList ops(module.lookupSymbol<func::FuncOp>("forward"));
  report["graph"] = ops.list;
  for (auto [index, source] : llvm::enumerate(ops.outputs))
    report["outputs"][index]["from"] = source;
}

// ---- The plan

/// The calls of an entry by their place in it.
using CallNumbers = llvm::DenseMap<Operation *, size_t>;

static std::string axisName(const ModelPlan &plan, int axis) {
  return axis >= 0 ? plan.axes[axis].name : axis == BURIN_AXIS_SEQUENCE ? "sequence" : "call";
}

static std::string stateValueAt(const ModelPlan &plan, int64_t offset) {
  for (const PlanStateValue &value : plan.stateValues)
    if (value.offset == offset)
      return value.name;
  llvm_unreachable("calls name the plan's state values");
}

/// Where a call's results go, and which call reads each of them last.
static Json writesOf(const ModelPlan &plan, const PlanEntry &entry, const PlanCall &planned, func::CallOp call,
                     const CallNumbers &numbers) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  size_t read = llvm::count_if(planned.arguments, [](const PlanArgument &argument) {
    return argument.kind == BURIN_ARG_CONTEXT || argument.kind == BURIN_ARG_WEIGHTS ||
           argument.kind == BURIN_ARG_FIRST_TILE;
  });
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    read += kernel.getArgAttr(index, attribute::weightOffset) ? 0 : 1;
  Json writes = Json::array();
  for (auto [index, argument] : llvm::enumerate(llvm::ArrayRef(planned.arguments).drop_front(read))) {
    if (argument.kind == BURIN_ARG_SCRATCH) {
      size_t last = numbers.lookup(call);
      for (Operation *user : call.getResult(index).getUsers())
        last = std::max(last, numbers.lookup(user));
      writes.push_back({{"to", "scratch"},
                        {"axis", axisName(plan, argument.rowAxis)},
                        {"offset", argument.offset},
                        {"bytes", argument.rowsEach * argument.columns * 4},
                        {"last_read_by", last}});
    } else if (argument.kind == BURIN_ARG_OUTPUT) {
      writes.push_back({{"to", "output"}, {"name", entry.outputs[argument.index].name}});
    } else {
      writes.push_back({{"to", "state"}, {"name", stateValueAt(plan, argument.offset)}});
    }
  }
  return writes;
}

/// What a call reads besides weights: {"call": 3}, {"input": "x"}, {"state": "k_cache"}, each once.
static Json readsOf(func::CallOp call, const CallNumbers &numbers) {
  auto entry = call->getParentOfType<func::FuncOp>();
  Json reads = Json::array();
  for (Value operand : call.getOperands()) {
    Json source;
    if (auto made = operand.getDefiningOp<func::CallOp>())
      source["call"] = numbers.lookup(made);
    else if (auto state = operand.getDefiningOp<StateOp>())
      source["state"] = state.getName().str();
    else if (auto argument = dyn_cast<BlockArgument>(operand)) {
      auto name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute::name);
      source["input"] = name ? name.str() : "positions";
    }
    if (!source.is_null() && llvm::count(reads, source) == 0)
      reads.push_back(source);
  }
  return reads;
}

static int64_t weightsBytesOf(func::FuncOp kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(attribute::blobBytes);
  return bytes ? bytes.getInt() : 0;
}

static Json describeEntry(const ModelPlan &plan, const PlanEntry &entry, func::FuncOp function, const std::string &name,
                          const RowCounts &rows) {
  auto module = function->getParentOfType<ModuleOp>();
  Json calls = Json::array();
  CallNumbers numbers;
  for (auto call : function.getOps<func::CallOp>())
    numbers[call] = numbers.size();
  for (auto [call, planned] : llvm::zip_equal(function.getOps<func::CallOp>(), entry.calls)) {
    auto kernel = module.lookupSymbol<func::FuncOp>(planned.kernel);
    auto scope = call->getAttrOfType<StringAttr>(attribute::scope);
    calls.push_back({{"kernel", planned.kernel},
                     {"scope", scope ? scope.str() : ""},
                     {"per_sequence", planned.perSequence},
                     {"guard", planned.guard < 0 ? Json() : Json(planned.guard)},
                     {"reads", readsOf(call, numbers)},
                     {"writes", writesOf(plan, entry, planned, call, numbers)},
                     {"weights_bytes", weightsBytesOf(kernel)},
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

/// The ops of a kernel in order: a list for each group of a whole, or one.
static Json groupsOf(func::FuncOp kernel) {
  Json groups = Json::array();
  Json ops = Json::array();
  for (Operation &op : kernel.getBody().front()) {
    if (auto call = dyn_cast<func::CallOp>(op))
      groups.push_back(groupsOf(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()))[0]);
    else if (!isa<func::ReturnOp>(op))
      ops.push_back(op.getName().stripDialect().str());
  }
  if (groups.empty())
    groups.push_back(ops);
  return groups;
}

/// How a kernel is compiled, by numbers of rows.
static Json schedulesOf(const KernelText &kernel, const ModelPlan &plan, const TunedSchedules &tuned) {
  Json list = Json::array();
  std::vector<ScheduleVariant> variants = tuned.variantsOf(kernel, plan);
  for (const ScheduleVariant &variant : variants) {
    std::string rows = std::to_string(leastRowsOf(variant.bucket));
    rows += variant.mostRows == INT64_MAX ? "-" : "-" + std::to_string(variant.mostRows);
    Json parameters = Json::object();
    for (auto [parameter, value] : variant.parameters.values())
      parameters[rowOf(parameter).name.str()] = value;
    list.push_back({{"rows", variants.size() == 1 ? "all" : rows},
                    {"from", variant.origin()},
                    {"parameters", parameters},
                    {"text", variant.parameters.text()}});
  }
  return list;
}

static Json describeKernels(ModuleOp module, const ModelPlan &plan, const TunedSchedules &tuned,
                            llvm::ArrayRef<NamedEntry> entries) {
  Json kernels = Json::array();
  for (const KernelText &kernel : kernelsOf(module)) {
    Json calls = Json::object(); // by entry
    for (const NamedEntry &entry : entries)
      calls[entry.name] =
          llvm::count_if(entry.entry->calls, [&](const PlanCall &call) { return call.kernel == kernel.function; });
    auto function = module.lookupSymbol<func::FuncOp>(kernel.function);
    kernels.push_back({{"name", kernel.function},
                       {"class", kernel.kernelClass},
                       {"groups", groupsOf(function)},
                       {"weights_bytes", weightsBytesOf(function)},
                       {"calls", calls},
                       {"record", recordName(kernel)},
                       {"schedules", schedulesOf(kernel, plan, tuned)}});
  }
  return kernels;
}

static std::string textIn(const Json &object, const char *field) { return object[field].get<std::string>(); }

static Json orNull(int64_t bound) { return bound < 0 ? Json() : Json(bound); }

void describePlan(ModuleOp module, const ModelPlan &plan, const TunedSchedules &tuned, Json &report) {
  RowCounts rows;
  for (const PlanAxis &axis : plan.axes)
    rows[axis.name] = axis.maximum;
  report["target"] = plan.target->name.str();
  report["precision"] = describePrecision(module);
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
  for (Json &entry : report["entries"]) {
    const TuningRecord *record = tuned.recordOf(textIn(entry, "name"), textIn(report, "record"), *plan.target);
    entry["kernels_from"] = record ? "record" : "derived";
    entry["choices"] = record ? record->choices.text() : "";
  }
  const TuningRecord *grain = tuned.grainRecord(*plan.target);
  report["threads"] = {{"from", grain ? "record of " + grain->about : "derived"},
                       {"worker_work", tuned.grain(*plan.target).workerWork},
                       {"entry_work", tuned.grain(*plan.target).entryWork}};
  report["kernels"] = describeKernels(module, plan, tuned, entries);
  report["tuned_on"] = tuned.cpu().empty() ? Json() : Json(tuned.cpu());
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

// ---- Time

void describeTimes(llvm::ArrayRef<EntryTimes> entries, Json &report) {
  Json list = Json::array();
  for (const EntryTimes &times : entries) {
    Json entry = {{"entry", times.entry}, {"what", times.what}};
    entry.update(toJson(times.latency));
    entry["flops"] = times.flops;
    entry["percent_of_fma_peak"] = times.percentOfPeak;
    entry["kernels"] = Json::array();
    for (const KernelTimes &kernel : times.kernels)
      entry["kernels"].push_back({{"kernel", kernel.function},
                                  {"calls", kernel.calls},
                                  {"mean_s", kernel.seconds},
                                  {"part", kernel.part},
                                  {"percent_of_fma_peak", kernel.percentOfPeak}});
    list.push_back(entry);
  }
  report["measured"] = {{"fma_peak_gflops", entries.front().peak}, {"entries", list}};
}

} // namespace burin
