// What stands behind a Graph: the MLIR module under construction, and what went wrong while it was declared.
//
// Ops are made at once, not recorded and replayed: a shape rule speaks while the user's line is known, and a layer can
// ask for the width of what it just made. An op whose shape rule complains is never made; its error is the rule's own
// text, so that a mistake reads the same whether it came from C++ or from textual IR.
//
// What a gate may skip is made in the block of its region while the user's function runs, and the gate after it. A
// value is in reach in the gates that are being declared and nowhere else; parameters never are in one.
#pragma once

#include "dialect/encoder.h"
#include "dsl/graph_module.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace burin {

/// What a value can be used as.
enum class Role { rows, parameter, mask, ids, positions };

/// An operand of an op as the user gave it, and what the op needs there.
struct Operand {
  llvm::StringRef name; // as messages call it: "x", "the weight"
  Tensor tensor;
  Role role = Role::rows;
  bool optional = false;
};

class GraphBody {
public:
  GraphBody(std::string name, Where where);

  static GraphBody *of(const Graph &graph) { return graph.body_.get(); }
  static GraphBody *of(Tensor tensor) { return tensor.graph_; }
  static GraphBody *of(TimeAxis axis) { return axis.graph_; }
  static GraphBody *of(GraphOf graph) { return graph.graph_; }

  const std::string &name() const { return name_; }
  mlir::Type typeOf(Tensor tensor) const { return values_[tensor.id_].getType(); }
  RowsAttr rowsOfAxis(TimeAxis axis) const { return axes_[axis.id_].rows; }
  /// Null for a tensor whose rows are not along time, and for a null tensor.
  static TimeAxis axisOf(Tensor tensor);

  TimeAxis time(const std::string &name, int64_t max, Where where);
  Tensor input(const std::string &name, RowsShape shape, Where where);
  Tensor mask(const std::string &name, MaskShape shape, Where where);
  Tensor ids(const std::string &name, TimeAxis time, Where where);
  void output(const std::string &name, Tensor value, Where where);
  Tensor parameter(const std::string &name, llvm::ArrayRef<int64_t> shape, Init init, Where where);
  void requireStep();

  void enterScope(const std::string &name, Where where);
  void leaveScope() { scopes_.pop_back(); }

  /// The hidden input that the driver feeds with each row's position. A null axis gives a null tensor.
  static Tensor positions(TimeAxis axis);

  /// Adds an op to the graph of its operands. `fill` sets the op's attributes.
  template <typename Op>
  static Tensor append(
      Where where, std::initializer_list<Operand> operands,
      llvm::function_ref<void(typename Op::Properties &, mlir::Builder &)> fill = [](auto &, auto &) {});

  /// Adds a gate with what `update` declares as its region.
  static Tensor gate(Where where, Tensor x, Tensor signal, double threshold, const std::function<Tensor()> &update);

  Tensor refuse(Where where, std::string message, std::string note = "");
  std::vector<DeclaredParameter> parameters() const;
  std::vector<GraphError> errors() const;
  std::optional<GraphModule> take();

private:
  struct Axis {
    RowsAttr rows;
    Tensor positions; // null until an op asks for it
  };
  struct Output {
    std::string name;
    mlir::Value value;
    mlir::Location location;
  };
  /// Who has a name.
  struct Holder {
    std::string kind;
    Where where;
  };

  static GraphBody *graphOf(llvm::ArrayRef<Operand> operands);
  std::optional<llvm::SmallVector<mlir::Value>> valuesOf(llvm::StringRef op, Where where,
                                                         llvm::ArrayRef<Operand> operands);
  /// What the op's shape rule gives, or nothing where it complains.
  template <typename Op>
  std::optional<llvm::SmallVector<mlir::Type>> typesOf(Where where, llvm::ArrayRef<mlir::Value> operands,
                                                       typename Op::Properties &properties);
  Tensor appendOp(mlir::OperationState &state);
  Tensor appendGate(Where where, Tensor x, Tensor signal, double threshold, const std::function<Tensor()> &update);
  /// Fills a gate's block; false where that fails. What is yielded has the type of `x`, unless that is null.
  bool declareUpdate(Where where, mlir::Block &block, mlir::Type x, const std::function<Tensor()> &update);
  mlir::Block &entry() { return forward_.getBody().front(); }
  /// Why `value` cannot be used here: the note on the gate that it was made in. Empty where it can.
  std::string whyOutOfReach(mlir::Value value, llvm::ArrayRef<mlir::Block *> within);
  mlir::LogicalResult reportingAt(Where where, llvm::function_ref<mlir::LogicalResult()> infer);

  Tensor addInput(const std::string &name, mlir::Type type, Where where);
  /// True where `axis` is a sound axis of this graph; otherwise it is reported, or was.
  bool isUsable(llvm::StringRef what, TimeAxis axis, Where where);
  /// Gives `name` to `kind`, or reports at `where` who has it.
  bool claim(llvm::StringMap<Holder> &names, llvm::StringRef what, llvm::StringRef kind, llvm::StringRef name,
             Where where);
  bool isIdentifier(llvm::StringRef what, llvm::StringRef name, Where where);
  bool isParameterName(llvm::StringRef what, llvm::StringRef name, Where where);
  std::string scoped(llvm::StringRef name) const;

  Tensor tensorOf(mlir::Value value);
  Tensor null() { return Tensor(this, -1); }
  mlir::Location locationOf(Where where);

  std::string name_;
  Where where_;
  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp forward_;

  std::vector<mlir::Value> values_; // by a tensor's id
  std::vector<Axis> axes_;          // by an axis' id
  std::vector<std::string> inputs_; // names; hidden inputs follow them in the function's arguments
  std::vector<Output> outputs_;
  std::vector<std::string> scopes_;
  llvm::StringMap<Holder> names_;        // of axes, inputs and outputs: a C function has them all as arguments
  llvm::StringMap<Holder> parameters_;   // by full name
  std::vector<mlir::Block *> openGates_; // being declared, the outermost first
  std::map<mlir::Block *, Where> gates_; // all
  bool hasOutputs_ = false;              // or tried to
  std::vector<GraphError> errors_;
  std::set<std::tuple<std::string, unsigned, unsigned>> clashes_; // places of layers whose parameters' names were taken
  std::vector<std::unique_ptr<mlir::Region>> refusedRegions_;     // of refused gates: the user may have tensors of them
};

template <typename Op>
Tensor GraphBody::append(Where where, std::initializer_list<Operand> operands,
                         llvm::function_ref<void(typename Op::Properties &, mlir::Builder &)> fill) {
  GraphBody *graph = graphOf(operands);
  if (!graph)
    return Tensor(); // nothing that knows a graph to complain to; the output that this leads to will
  auto values = graph->valuesOf(Op::getOperationName(), where, operands);
  if (!values)
    return graph->null();

  typename Op::Properties properties;
  fill(properties, graph->builder_);
  auto types = graph->typesOf<Op>(where, *values, properties);
  if (!types)
    return graph->null();

  mlir::OperationState state(graph->locationOf(where), Op::getOperationName(), *values, *types);
  state.useProperties(properties);
  return graph->appendOp(state);
}

template <typename Op>
std::optional<llvm::SmallVector<mlir::Type>> GraphBody::typesOf(Where where, llvm::ArrayRef<mlir::Value> operands,
                                                                typename Op::Properties &properties) {
  llvm::SmallVector<mlir::Type> types;
  auto infer = [&] {
    return Op::inferReturnTypes(context_.get(), locationOf(where), operands, {}, &properties, {}, types);
  };
  return succeeded(reportingAt(where, infer)) ? std::optional(types) : std::nullopt;
}

} // namespace burin
