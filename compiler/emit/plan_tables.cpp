#include "emit/plan_tables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/StringSaver.h"

namespace burin {

namespace {

class TableMaker {
  const char *text(llvm::StringRef value) { return texts_.save(value).data(); }

  template <typename T> const T *keep(const T &value) { return new (memory_) T(value); }

  /// A row for each element of `from`; null for none.
  template <typename List, typename Count, typename Row> auto list(const List &from, Count &count, Row row) {
    using T = decltype(row(*from.begin()));
    count = Count(from.size());
    T *rows = from.empty() ? nullptr : memory_.Allocate<T>(from.size());
    for (size_t i = 0; i < from.size(); ++i)
      new (&rows[i]) T(row(from[i]));
    return static_cast<const T *>(rows);
  }

public:
  explicit TableMaker(llvm::BumpPtrAllocator &memory) : memory_(memory), texts_(memory) {}

  const burin_plan *plan(const ModelPlan &plan) {
    burin_plan table = {};
    table.version = BURIN_PLAN_VERSION;
    table.fingerprint = plan.fingerprint;
    table.graph = plan.graph;
    table.name = text(plan.name);
    table.target = text(plan.target->name);
    table.axes = list(plan.axes, table.axis_count, [&](const PlanAxis &axis) {
      return burin_plan_axis{text(axis.name), axis.maximum};
    });
    table.parameters = list(plan.parameters, table.parameter_count, [&](const PlanParameter &parameter) {
      burin_plan_parameter row = {text(parameter.name), int32_t(parameter.shape.size()), 0, {1, 1}};
      llvm::copy(parameter.shape, row.shape);
      return row;
    });
    table.segments = list(plan.segments, table.segment_count, [&](const PlanSegment &s) {
      return burin_plan_segment{s.parameter, s.layout,      s.transposed, int32_t(s.panel), s.rows,
                                s.column,    s.destination, s.terms,      s.group,          s.columns,
                                s.scales,    s.sums,        s.corrections};
    });
    table.state_values = list(plan.stateValues, table.state_value_count, [&](const PlanStateValue &v) {
      return burin_plan_state_value{text(v.name), v.type,   v.tile,     v.stream, 0,
                                    v.rows,       v.window, v.features, v.offset, v.bytes};
    });
    // No CPU bits: nothing of these tables runs here, and weights are packed for processors that this one is not.
    table.forward = entry(plan.forward);
    table.streams = list(plan.streams, table.stream_count, [&](const PlanStream &s) {
      return burin_plan_stream{text(s.name), entry(s.one), s.many ? entry(*s.many) : nullptr, s.axis, s.mostRows,
                               s.capacity,   s.positionEnd};
    });
    table.weights_bytes = plan.weightsBytes;
    table.state_bytes = plan.stateBytes;
    table.worker_work = plan.grain.workerWork;
    table.entry_work = plan.grain.entryWork;
    return keep(table);
  }

private:
  static burin_plan_argument argument(const PlanArgument &a) {
    return {a.kind, a.index, a.type, a.rowAxis, a.columnAxis, a.rowsEach, a.tile, a.ring, a.columns, a.offset};
  }

  const burin_plan_tensor *tensors(const std::vector<PlanTensor> &from, int32_t &count) {
    return list(from, count, [&](const PlanTensor &t) {
      return burin_plan_tensor{text(t.name), t.type, t.rowAxis, t.columnAxis, int32_t(t.limit), t.rowsEach, t.columns};
    });
  }

  const burin_plan_entry *entry(const PlanEntry &from) {
    burin_plan_entry table = {};
    table.calls = list(from.calls, table.call_count, [&](const PlanCall &call) {
      burin_plan_call row = {};
      row.name = text(call.kernel);
      row.arguments = list(call.arguments, row.argument_count, argument);
      row.per_sequence = call.perSequence;
      row.guard = call.guard;
      row.split_axis = call.splitAxis;
      row.split_units = call.splitUnits;
      row.work = call.work;
      return row;
    });
    table.inputs = tensors(from.inputs, table.input_count);
    table.outputs = tensors(from.outputs, table.output_count);
    table.guards = list(from.guards, table.guard_count, [&](const PlanGuard &guard) {
      return burin_plan_guard{argument(guard.signal), guard.threshold, guard.parent};
    });
    table.uses_positions = from.usesPositions;
    llvm::copy(from.scratchRowBytes, table.scratch_row_bytes);
    table.kernel_scratch_bytes = from.kernelScratchBytes;
    return keep(table);
  }

  llvm::BumpPtrAllocator &memory_;
  llvm::StringSaver texts_;
};

} // namespace

PlanTables::PlanTables(const ModelPlan &plan) : table_(TableMaker(memory_).plan(plan)) {}

} // namespace burin
