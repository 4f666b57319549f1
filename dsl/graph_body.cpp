#include "dsl/graph_body.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <limits>

using namespace mlir;

namespace burin {

/// What is wrong with a size, or nothing. Kernels index with 32 bits.
static std::string complaintAbout(int64_t size) {
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  if (size < 1)
    return "expected at least 1";
  return size > largest ? "expected at most " + std::to_string(largest) : "";
}

static StringRef nameOf(Role role) {
  switch (role) {
  case Role::rows:
    return "a tensor of rows";
  case Role::parameter:
    return "a parameter";
  case Role::mask:
    return "a mask";
  case Role::ids:
    return "ids";
  case Role::positions:
    return "positions";
  }
  llvm_unreachable("a role without a name");
}

static StringRef howToMake(Role role) {
  switch (role) {
  case Role::parameter:
    return "make it with parameter(graph, name, shape, init)";
  case Role::mask:
    return "declare it with Graph::mask";
  case Role::ids:
    return "declare them with Graph::ids";
  case Role::rows:
  case Role::positions:
    return "";
  }
  llvm_unreachable("a role that nothing makes");
}

static Role roleOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (value.getDefiningOp<ParameterOp>())
    return Role::parameter;
  if (isa_and_nonnull<PairsAttr>(type.getEncoding()))
    return Role::mask;
  if (type.getElementType().isInteger(32))
    return Role::ids;
  return type.getElementType().isInteger() ? Role::positions : Role::rows;
}

/// "policy.cpp:12", short: it stands inside a note that names its own file in full.
static std::string placeOf(Where where) {
  return (llvm::sys::path::filename(where.file_name()) + ":" + Twine(where.line())).str();
}

/// Said of a tensor that belongs to a gate.
constexpr llvm::StringLiteral madeInside = "was made inside a gate, expected a tensor made outside of it";

GraphBody::GraphBody(std::string name, Where where)
    : name_(std::move(name)), where_(where), context_(std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED)),
      builder_(context_.get()) {
  context_->loadDialect<EncoderDialect, func::FuncDialect>();
  Location location = locationOf(where);
  module_ = ModuleOp::create(location, name_);
  builder_.setInsertionPointToStart(module_->getBody());
  forward_ = func::FuncOp::create(builder_, location, "forward", builder_.getFunctionType({}, {}));
  builder_.setInsertionPointToStart(forward_.addEntryBlock());
  isIdentifier("graph", name_, where);
}

//===--- Axes, inputs, outputs, parameters ---===//

TimeAxis GraphBody::axisOf(Tensor tensor) {
  if (!tensor)
    return TimeAxis(tensor.graph_, -1);
  const std::vector<Axis> &axes = tensor.graph_->axes_;
  RowsAttr rows = rowsOf(tensor.graph_->typeOf(tensor));
  for (size_t id = 0; id < axes.size(); ++id)
    if (rows && axes[id].rows == rows)
      return TimeAxis(tensor.graph_, int(id));
  return TimeAxis();
}

TimeAxis GraphBody::time(const std::string &name, int64_t max, Where where) {
  TimeAxis null(this, -1);
  if (!isIdentifier("time", name, where))
    return null;
  if (std::string complaint = complaintAbout(max); !complaint.empty()) {
    refuse(where, "time: the maximum of '" + name + "' is " + std::to_string(max) + ", " + complaint,
           "give the most rows of one sequence, for example time(\"" + name + "\", {.max = 64})");
    return null;
  }
  if (!claim(names_, "time", "time axis", name, where))
    return null;
  axes_.push_back({RowsAttr::get(context_.get(), builder_.getStringAttr(name), max), Tensor()});
  return TimeAxis(this, int(axes_.size()) - 1);
}

Tensor GraphBody::input(const std::string &name, RowsShape shape, Where where) {
  bool sound = isIdentifier("input", name, where) && claim(names_, "input", "input", name, where);
  sound &= isUsable("input", shape.time, where);
  if (std::string complaint = complaintAbout(shape.features); !complaint.empty()) {
    refuse(where, "input: '" + name + "' has " + std::to_string(shape.features) + " features, " + complaint);
    sound = false;
  }
  if (!sound)
    return null();
  RowsAttr rows = rowsOfAxis(shape.time);
  Type type = RankedTensorType::get({ShapedType::kDynamic, shape.features}, builder_.getF32Type(), rows);
  return addInput(name, type, where);
}

Tensor GraphBody::mask(const std::string &name, MaskShape shape, Where where) {
  bool sound = isIdentifier("mask", name, where) && claim(names_, "mask", "mask", name, where);
  sound &= isUsable("mask", shape.query, where) && isUsable("mask", shape.key, where);
  if (!sound)
    return null();
  RowsAttr query = rowsOfAxis(shape.query), key = rowsOfAxis(shape.key);
  auto pairs = PairsAttr::get(context_.get(), query.getSymbol(), query.getMax(), key.getSymbol(), key.getMax());
  Type uint8 = builder_.getIntegerType(8, /*isSigned=*/false);
  return addInput(name, RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic}, uint8, pairs), where);
}

Tensor GraphBody::ids(const std::string &name, TimeAxis time, Where where) {
  bool sound = isIdentifier("ids", name, where) && claim(names_, "ids", "input", name, where);
  sound &= isUsable("ids", time, where);
  if (!sound)
    return null();
  Type type = RankedTensorType::get({ShapedType::kDynamic, 1}, builder_.getI32Type(), rowsOfAxis(time));
  return addInput(name, type, where);
}

Tensor GraphBody::addInput(const std::string &name, Type type, Where where) {
  Value argument = entry().insertArgument(unsigned(inputs_.size()), type, locationOf(where));
  inputs_.push_back(name);
  return tensorOf(argument);
}

Tensor GraphBody::positions(TimeAxis axis) {
  GraphBody *graph = axis.graph_;
  if (!graph || !axis)
    return Tensor(graph, -1);
  Axis &entry = graph->axes_[axis.id_];
  if (!entry.positions) {
    auto type = RankedTensorType::get({ShapedType::kDynamic, 1}, graph->builder_.getI64Type(), entry.rows);
    entry.positions = graph->tensorOf(graph->forward_.getBody().addArgument(type, graph->forward_.getLoc()));
  }
  return entry.positions;
}

/// The value that is left of `value` when what folds away has: dropout, a slice of everything.
static Value folded(Value value) {
  SmallVector<OpFoldResult> results;
  while (Operation *op = value.getDefiningOp()) {
    results.clear();
    if (failed(op->fold(results)) || results.size() != 1 || !isa<Value>(results[0]))
      break;
    value = cast<Value>(results[0]);
  }
  return value;
}

void GraphBody::output(const std::string &name, Tensor tensor, Where where) {
  hasOutputs_ = true;
  bool sound = isIdentifier("output", name, where) && claim(names_, "output", "output", name, where);
  auto complain = [&](const Twine &message, const Twine &note) {
    refuse(where, ("output: '" + name + "' " + message).str(), note.str());
  };
  if (!tensor.graph_)
    return complain("has no value", "give it what a function of this graph returned");
  if (tensor.graph_ != this)
    return complain("is a tensor of graph '" + tensor.graph_->name_ + "', not of '" + name_ + "'",
                    "declare all of a model in one graph");
  if (!tensor || !sound)
    return;
  Value value = values_[tensor.id_];
  if (std::string why = whyOutOfReach(value, /*within=*/{}); !why.empty())
    return complain(madeInside, why);
  Value source = folded(value);
  if (Role role = roleOf(value); role != Role::rows)
    return complain("is " + nameOf(role) + ", expected " + nameOf(Role::rows), "");
  if (auto argument = dyn_cast<BlockArgument>(source))
    return complain("is the input '" + inputs_[argument.getArgNumber()] + "' itself", "an output is computed by an op");
  for (const Output &other : outputs_)
    if (folded(other.value) == source)
      return complain("is the same tensor as the output '" + other.name + "'", "declare it once");
  outputs_.push_back({name, value, locationOf(where)});
}

static StringRef nameOf(Init init) {
  switch (init) {
  case Init::normal:
    return "normal";
  case Init::zeros:
    return "zeros";
  case Init::ones:
    return "ones";
  case Init::positions:
    return "positions";
  }
  llvm_unreachable("an init without a name");
}

Tensor GraphBody::parameter(const std::string &name, ArrayRef<int64_t> shape, Init init, Where where) {
  if (!isParameterName("parameter", name, where))
    return null();
  std::string full = scoped(name);
  if (shape.size() != 1 && shape.size() != 2)
    return refuse(where,
                  "parameter: '" + full + "' has " + std::to_string(shape.size()) + " dimensions, expected 1 or 2");
  for (int64_t size : shape)
    if (std::string complaint = complaintAbout(size); !complaint.empty())
      return refuse(where, "parameter: '" + full + "' has a size of " + std::to_string(size) + ", " + complaint);
  if (!claim(parameters_, "parameter", "parameter", full, where))
    return null();
  Type type = RankedTensorType::get(shape, builder_.getF32Type());
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToEnd(&entry()); // a weight is the model's, not a gate's
  return tensorOf(ParameterOp::create(builder_, locationOf(where), type, full, nameOf(init)));
}

void GraphBody::requireStep() { (*module_)->setAttr(attribute::requireStep, builder_.getUnitAttr()); }

//===--- Ops ---===//

GraphBody *GraphBody::graphOf(ArrayRef<Operand> operands) {
  for (const Operand &operand : operands)
    if (operand.tensor.graph_)
      return operand.tensor.graph_;
  return nullptr;
}

std::optional<SmallVector<Value>> GraphBody::valuesOf(StringRef op, Where where, ArrayRef<Operand> operands) {
  std::string stem = op.substr(op.find('.') + 1).str() + ": ";
  SmallVector<Value> values;
  bool sound = true;
  auto complain = [&](const Twine &message, StringRef note) {
    refuse(where, (stem + message).str(), note.str());
    sound = false;
  };
  for (const auto &[name, tensor, role, optional] : operands) {
    if (!tensor.graph_ && optional)
      continue;
    if (!tensor.graph_)
      complain(name + " is missing", "give it what a function of this graph returned");
    else if (tensor.graph_ != this)
      complain(name + " is a tensor of graph '" + tensor.graph_->name_ + "', not of '" + name_ + "'",
               "declare all of a model in one graph");
    else if (!tensor)
      sound = false; // reported where it came from
    else if (Role found = roleOf(values_[tensor.id_]); found != role)
      complain(name + " is " + nameOf(found) + ", expected " + nameOf(role), howToMake(role));
    else if (std::string why = whyOutOfReach(values_[tensor.id_], openGates_); !why.empty())
      complain(name + " " + madeInside, why);
    else
      values.push_back(values_[tensor.id_]);
  }
  return sound ? std::optional(values) : std::nullopt;
}

LogicalResult GraphBody::reportingAt(Where where, llvm::function_ref<LogicalResult()> infer) {
  ScopedDiagnosticHandler handler(context_.get(), [&](Diagnostic &diagnostic) {
    std::string note;
    for (Diagnostic &attached : diagnostic.getNotes())
      note = attached.str();
    refuse(where, diagnostic.str(), note);
    return success();
  });
  return infer();
}

Tensor GraphBody::appendOp(OperationState &state) {
  if (!scopes_.empty())
    state.addAttribute(attribute::scope, builder_.getStringAttr(llvm::join(scopes_, ".")));
  return tensorOf(builder_.create(state)->getResult(0));
}

//===--- Gates ---===//

Tensor GraphBody::gate(Where where, Tensor x, Tensor signal, double threshold, const std::function<Tensor()> &update) {
  GraphBody *graph = graphOf({{"x", x}, {"the signal", signal}});
  return graph ? graph->appendGate(where, x, signal, threshold, update) : Tensor();
}

Tensor GraphBody::appendGate(Where where, Tensor x, Tensor signal, double threshold,
                             const std::function<Tensor()> &update) {
  GateOp::Properties properties;
  properties.threshold = builder_.getF64FloatAttr(threshold);
  auto values = valuesOf(GateOp::getOperationName(), where, {{"x", x}, {"the signal", signal}});
  auto types = values ? typesOf<GateOp>(where, *values, properties) : std::nullopt;
  // The update is declared even where its gate is refused, so that one run says the mistakes of both.
  auto region = std::make_unique<Region>();
  bool sound = declareUpdate(where, region->emplaceBlock(), values ? values->front().getType() : Type(), update);
  if (!types || !sound) {
    region->dropAllReferences(); // it lives on without what it reads
    refusedRegions_.push_back(std::move(region));
    return null();
  }
  OperationState state(locationOf(where), GateOp::getOperationName(), *values, *types);
  state.useProperties(properties);
  state.addRegion(std::move(region));
  return appendOp(state);
}

bool GraphBody::declareUpdate(Where where, Block &block, Type x, const std::function<Tensor()> &update) {
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToEnd(&block);
  gates_.emplace(&block, where);
  openGates_.push_back(&block);
  Tensor made = update ? update() : Tensor();
  auto values = valuesOf(GateOp::getOperationName(), where, {{"the update", made}});
  openGates_.pop_back();
  if (!values || !x)
    return false;
  Type found = values->front().getType();
  if (found != x) {
    refuse(where, "gate: the update has shape " + describe(found) + ", expected x's shape " + describe(x));
    return false;
  }
  YieldOp::create(builder_, locationOf(where), values->front());
  return true;
}

std::string GraphBody::whyOutOfReach(Value value, ArrayRef<Block *> within) {
  Block *block = value.getParentBlock();
  if (block == &entry() || llvm::is_contained(within, block))
    return "";
  return "the gate declared at " + placeOf(gates_.at(block)) +
         " may skip it; use what that gate returned, or make the tensor before it";
}

//===--- Names ---===//

bool GraphBody::claim(llvm::StringMap<Holder> &names, StringRef what, StringRef kind, StringRef name, Where where) {
  auto [entry, isNew] = names.try_emplace(name, Holder{kind.str(), where});
  if (isNew)
    return true;
  // A layer declared twice clashes in every one of its parameters; the first says it.
  if (&names == &parameters_ && !clashes_.insert({where.file_name(), where.line(), where.column()}).second)
    return false;
  StringRef fix = &names == &parameters_ ? "put one of the layers in a Scope" : "choose another name";
  refuse(where, (what + ": the name '" + name + "' is taken").str(),
         ("by the " + entry->second.kind + " declared at " + placeOf(entry->second.where) + "; " + fix).str());
  return false;
}

bool GraphBody::isUsable(StringRef what, TimeAxis axis, Where where) {
  if (!axis.graph_)
    refuse(where, (what + ": a time axis is missing").str(), "make one with Graph::time");
  else if (axis.graph_ != this)
    refuse(where, (what + ": a time axis is of graph '" + axis.graph_->name_ + "', not of '" + name_ + "'").str(),
           "declare all of a model in one graph");
  return axis && axis.graph_ == this;
}

static bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

bool GraphBody::isIdentifier(StringRef what, StringRef name, Where where) {
  if (!name.empty() && !llvm::isDigit(name[0]) && llvm::all_of(name, isWordCharacter))
    return true;
  refuse(where, (what + ": the name '" + name + "' is not a C identifier").str(),
         "use letters, digits and underscores, and no digit first");
  return false;
}

bool GraphBody::isParameterName(StringRef what, StringRef name, Where where) {
  SmallVector<StringRef> words;
  name.split(words, '.');
  if (llvm::all_of(words, [](StringRef word) { return !word.empty() && llvm::all_of(word, isWordCharacter); }))
    return true;
  refuse(where, (what + ": the name '" + name + "' is not words with dots between them").str(),
         "use letters, digits and underscores in a word");
  return false;
}

std::string GraphBody::scoped(StringRef name) const {
  std::string prefix = llvm::join(scopes_, ".");
  return prefix.empty() ? name.str() : prefix + "." + name.str();
}

void GraphBody::enterScope(const std::string &name, Where where) {
  isParameterName("scope", name, where);
  scopes_.push_back(name);
}

//===--- Errors, and the end ---===//

Tensor GraphBody::refuse(Where where, std::string message, std::string note) {
  GraphError error{where.file_name(), int(where.line()), std::move(message), std::move(note)};
  // Blocks of one layer, or passes of one loop, all say the same; once is enough.
  bool isKnown = llvm::any_of(errors_, [&](const GraphError &known) {
    return known.file == error.file && known.line == error.line && known.message == error.message;
  });
  if (!isKnown)
    errors_.push_back(std::move(error));
  return null();
}

std::vector<DeclaredParameter> GraphBody::parameters() const {
  std::vector<DeclaredParameter> parameters;
  for (ParameterOp op : const_cast<func::FuncOp &>(forward_).getOps<ParameterOp>())
    parameters.push_back({op.getName().str(), cast<RankedTensorType>(op.getType()).getShape().vec()});
  return parameters;
}

std::vector<GraphError> GraphBody::errors() const {
  std::vector<GraphError> errors = errors_;
  if (!hasOutputs_)
    errors.push_back({where_.file_name(), int(where_.line()), "graph: '" + name_ + "' has no output",
                      "name a result with output(\"y\", y)"});
  return errors;
}

std::optional<GraphModule> GraphBody::take() {
  if (!errors().empty())
    return std::nullopt;
  SmallVector<Value> results;
  for (const Output &output : outputs_)
    results.push_back(output.value);
  func::ReturnOp::create(builder_, outputs_.back().location, results);
  forward_.setFunctionType(
      builder_.getFunctionType(forward_.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
  for (unsigned i = 0; i < forward_.getNumArguments(); ++i) {
    if (i < inputs_.size())
      forward_.setArgAttr(i, attribute::name, builder_.getStringAttr(inputs_[i]));
    else
      forward_.setArgAttr(i, attribute::positions, builder_.getUnitAttr());
  }
  for (auto [i, output] : llvm::enumerate(outputs_))
    forward_.setResultAttr(unsigned(i), attribute::name, builder_.getStringAttr(output.name));
  return GraphModule{std::move(context_), std::move(module_)};
}

Tensor GraphBody::tensorOf(Value value) {
  values_.push_back(value);
  return Tensor(this, int(values_.size()) - 1);
}

Location GraphBody::locationOf(Where where) {
  return FileLineColLoc::get(context_.get(), where.file_name(), where.line(), where.column());
}

std::optional<GraphModule> takeModule(Graph &&graph) {
  Graph taken = std::move(graph);
  return GraphBody::of(taken)->take();
}

} // namespace burin
