// From a kernel function to scheduled Funcs.
//   1. bind the function's arguments to image parameters, in ABI order;
//   2. call the rooms of its ops in order; a call is a group of its own and its function's ops are visited in place;
//   3. close each group: its records and its output go to the target's schedule of its class;
//   4. collect results and state writes as the pipeline's outputs.
#include "emit/kernel_builder.h"
#include "emit/split.h"
#include "emit/weight_views.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::RDom;
using Halide::Var;

namespace burin {

/// Key of rows that count sequences, so many for each; no symbol is a number.
static std::string perSequence(Type type) { return std::to_string(rowsEach(type)); }

/// A number to compute counts of rows with, which are 64-bit.
static Expr whole(int64_t value) { return Expr(value); }

/// What a blob is read as where panels of that precision lie.
static Halide::Type elementOf(Precision precision) {
  switch (precision) {
  case Precision::Float32:
    return Halide::Float(32);
  case Precision::BFloat16:
  case Precision::BFloat16Dot: // its bits: not every target knows the type
    return Halide::UInt(16);
  case Precision::Int8:
    return Halide::Int(8);
  }
  llvm_unreachable("a precision");
}

KernelBuilder::KernelBuilder(func::FuncOp kernel, const Target &target, const ScheduleParameters &parameters,
                             int64_t mostRows)
    : kernel_(kernel), target_(target), choice_(new ParameterChoice{parameters, {}, mostRows}) {}

int KernelGroup::parameter(Parameter parameter, int derived, llvm::function_ref<int(int)> used) const {
  int value = choice ? choice->given.get(parameter).value_or(derived) : derived;
  if (used)
    value = used(value);
  if (choice) // of several groups that make different things of one, the largest stands for it
    choice->used.set(parameter, std::max(value, choice->used.get(parameter).value_or(value)));
  return value;
}

// ---- Arguments -----------------------------------------------------------------------------------------------------

void KernelBuilder::allowAtMost(const ImageParam &image, int dimension, int64_t most) {
  maxima_[image.name() + ".extent." + std::to_string(dimension)] = most;
}

Expr KernelBuilder::rowsOfType(Type type) const {
  Attribute encoding = cast<RankedTensorType>(type).getEncoding();
  if (!encoding)
    return int(rowsEach(type));
  RowsAttr rows = rowsOf(type);
  auto found = symbolRows_.find(rows ? rows.getSymbol().str() : perSequence(type));
  // What runs once for each sequence, and reads nothing that counts them, makes the rows of one.
  return found == symbolRows_.end() ? Expr(int(rowsEach(type))) : found->second;
}

void KernelBuilder::bindArguments() {
  bool weights = false;
  for (unsigned i = 0; i < kernel_.getNumArguments(); ++i)
    weights |= kernel_.getArgAttr(i, attribute::weightOffset) != nullptr;
  if (weights)
    for (const WeightView &view : weightViewsOf(kernel_)) {
      ImageParam blob(elementOf(view.precision), 1, "weights_" + precisionName(view.precision).str());
      blob.dim(0).set_min(0);
      blob.set_host_alignment(64);
      arguments_.push_back(blob);
      blobs_[view.precision] = blob;
    }
  for (BlockArgument argument : kernel_.getArguments())
    bindArgument(argument, kernel_.getArgAttrDict(argument.getArgNumber()));
  if (takesFirstTile(kernel_, target_))
    arguments_.push_back(firstTile_);
}

void KernelBuilder::bindArgument(BlockArgument argument, DictionaryAttr attributes) {
  Binding binding;
  auto type = cast<RankedTensorType>(argument.getType());
  Attribute encoding = type.getEncoding();
  std::string name = "argument" + std::to_string(argument.getArgNumber());
  auto image = [&](Halide::Type element, int dimensions) {
    binding.image = ImageParam(element, dimensions, name);
    for (int i = 0; i < dimensions; ++i)
      binding.image.dim(i).set_min(0);
    arguments_.push_back(binding.image);
  };
  auto rowsFrom = [&](const std::string &symbol, int dimension, int64_t most) {
    Expr extent = binding.image.dim(dimension).extent();
    auto [entry, isNew] = symbolRows_.try_emplace(symbol, extent);
    // Only where a buffer holds one sequence is the symbol's maximum a bound of its rows.
    auto kernelClass = kernelClassNamed(kernel_->getAttrOfType<StringAttr>(attribute::kernel).getValue());
    if (most && kernelClass && runsPerSequence(*kernelClass))
      allowAtMost(binding.image, dimension, most);
    return entry->second;
  };

  if (attributes && attributes.get(attribute::weightOffset)) {
    binding.kind = Binding::Kind::Weight;
    binding.offset = attributes.getAs<IntegerAttr>(attribute::weightOffset).getInt();
    if (auto panel = attributes.getAs<IntegerAttr>(attribute::panel))
      binding.panel = panel.getInt();
    binding.precision = precisionOfArgument(kernel_, argument.getArgNumber());
    binding.image = blobs_[binding.precision];
    binding.rows = int(rowsEach(type)); // where it is read as rows
  } else if (isa_and_nonnull<CacheAttr>(encoding)) {
    binding.kind = Binding::Kind::Cache;
    image(Halide::Float(32), 1);
  } else if (type.getElementType().isF64()) {
    binding.kind = Binding::Kind::Accumulator;
    image(Halide::Float(64), 1);
  } else if (type.getElementType().isInteger(64) && !type.isDynamicDim(0)) {
    binding.kind = Binding::Kind::Scalar;
    binding.scalar = Halide::Param<int64_t>("scalar" + std::to_string(argument.getArgNumber()));
    arguments_.push_back(binding.scalar);
    binding.rows = 1;
  } else if (type.getElementType().isInteger(64)) {
    binding.kind = Binding::Kind::Positions;
    image(Halide::Int(64), 2);
    RowsAttr rows = rowsOf(type);
    binding.image.dim(0).set_bounds(0, 1);
    binding.image.dim(1).set_stride(1);
    binding.rows = rowsFrom(rows.getSymbol().str(), 1, rows.getMax());
  } else if (type.getElementType().isInteger(32)) {
    binding.kind = Binding::Kind::Ids;
    image(Halide::Int(32), 2);
    binding.image.dim(0).set_bounds(0, 1);
    binding.image.dim(1).set_stride(1);
    if (RowsAttr rows = rowsOf(type)) {
      binding.rows = rowsFrom(rows.getSymbol().str(), 1, rows.getMax());
    } else {
      binding.image.dim(1).set_bounds(0, 1);
      binding.rows = 1;
    }
  } else if (auto pairs = dyn_cast_or_null<PairsAttr>(encoding)) {
    binding.kind = Binding::Kind::Mask;
    image(Halide::UInt(8), 2);
    rowsFrom(pairs.getKey().str(), 0, pairs.getKeyMax());
    binding.rows = rowsFrom(pairs.getQuery().str(), 1, pairs.getQueryMax());
    binding.image.dim(1).set_stride(binding.image.dim(0).extent());
  } else {
    binding.kind = Binding::Kind::Rows;
    image(Halide::Float(32), 2);
    int64_t features = featuresOf(type);
    binding.image.dim(0).set_bounds(0, int(features));
    binding.image.dim(1).set_stride(int(features));
    if (!encoding) {
      binding.image.dim(1).set_bounds(0, int(rowsEach(type)));
      binding.rows = int(rowsEach(type));
    } else if (RowsAttr rows = rowsOf(type)) {
      binding.rows = rowsFrom(rows.getSymbol().str(), 1, rows.getMax());
    } else {
      binding.rows = rowsFrom(perSequence(type), 1, 0);
    }
    Func rows(name + "_rows");
    rows(axis::feature(), axis::row()) = binding.image(axis::feature(), axis::row());
    binding.func = rows;
    binding.stored = true;
  }
  bind(argument, binding);
}

// By value: an insertion moves what the map holds.
void KernelBuilder::bind(Value value, Binding binding) { values_[value] = std::move(binding); }

// ---- For the rooms -------------------------------------------------------------------------------------------------

const KernelBuilder::Binding &KernelBuilder::binding(unsigned i) const {
  return values_.find(op_->getOperand(i))->second;
}

bool KernelBuilder::hasOperand(unsigned i) const { return i < op_->getNumOperands(); }

Func KernelBuilder::operand(unsigned i) {
  const Binding &source = binding(i);
  auto type = cast<RankedTensorType>(op_->getOperand(i).getType());
  Var feature = axis::feature(), row = axis::row();
  Func value("operand");
  switch (source.kind) {
  case Binding::Kind::Rows:
    return source.func;
  case Binding::Kind::Weight:
    if (type.getRank() == 1)
      value(feature) = source.image(int(source.offset) + feature);
    else
      value(feature, row) = source.image(int(source.offset) + row * int(type.getDimSize(1)) + feature);
    return value;
  case Binding::Kind::Accumulator:
    value(feature) = source.image(feature);
    return value;
  default:
    value(feature, row) = source.image(feature, row);
    return value;
  }
}

int64_t KernelBuilder::panelWidth(unsigned i) const { return binding(i).panel; }

Func KernelBuilder::panels(unsigned i) {
  const Binding &weight = binding(i);
  auto input = cast<RankedTensorType>(op_->getOperand(0).getType());
  int width = int(weight.panel), depth = int(featuresOf(input));
  Func packed("panels");
  Var lane = axis::lane(), k("k"), panel = axis::panel();
  Expr place = panel * (depth * width) + k * width + lane;
  if (weight.precision == Precision::BFloat16) // the upper half of a float32
    packed(lane, k, panel) =
        Halide::reinterpret<float>(cast<uint32_t>(weight.image(int(weight.offset) * 2 + place)) << 16);
  else
    packed(lane, k, panel) = weight.image(int(weight.offset) + place);
  return packed;
}

PackedPanels KernelBuilder::packedPanels(unsigned i) const {
  return PackedPanels(target_, binding(i).precision, features(0), featuresOf(op_->getResult(0).getType()),
                      panelWidth(i));
}

Func KernelBuilder::termPanels(unsigned i) {
  const Binding &weight = binding(i);
  bool isBytes = weight.precision == Precision::Int8;
  int terms = isBytes ? integerDot().terms : PackedPanels::bfloatTerms;
  int width = int(weight.panel), steps = int(packedPanels(i).depth()) / terms;
  Func packed("panels");
  Var term("term"), lane = axis::lane(), step("step"), panel = axis::panel();
  Expr place = ((panel * steps + step) * width + lane) * terms + term;
  packed(term, lane, step, panel) = weight.image(int(weight.offset) * (isBytes ? 4 : 2) + place);
  return packed;
}

Expr KernelBuilder::besidePanels(unsigned i, int64_t offset, Expr group, Expr column) {
  PackedPanels packed = packedPanels(i);
  return blobs_[Precision::Float32](int(binding(i).offset + offset) + group * int(packed.columns) + column);
}

Expr KernelBuilder::groupScale(unsigned i, Expr group, Expr column) {
  return besidePanels(i, packedPanels(i).scales, group, column);
}

Expr KernelBuilder::groupCorrection(unsigned i, Expr group, Expr column) {
  return Halide::reinterpret<int32_t>(besidePanels(i, packedPanels(i).corrections, group, column));
}

Expr KernelBuilder::columnSum(unsigned i, Expr column) { return besidePanels(i, packedPanels(i).sums, 0, column); }

int64_t KernelBuilder::features(unsigned i) const { return featuresOf(op_->getOperand(i).getType()); }
Expr KernelBuilder::rows(unsigned i) { return binding(i).rows; }
bool KernelBuilder::hasOneRow(unsigned i) const { return Halide::Internal::is_const_one(binding(i).rows); }

Expr KernelBuilder::rowWithin(unsigned i, Expr row) {
  if (hasOneRow(i))
    return 0;
  // Wrapped around, not cut off at the last row: cut off, two rows of a tile are provably equal, the compiler computes
  // their product once, and a product that is used twice is no longer fused with its additions: other bits.
  return Halide::select(Halide::likely(row < rows(i)), row, row % rows(i));
}

Expr KernelBuilder::position(unsigned i, Expr row) {
  const Binding &source = binding(i);
  if (source.kind == Binding::Kind::Scalar)
    return source.scalar;
  return source.image(0, row);
}

Expr KernelBuilder::count(unsigned i, int64_t most) {
  const Binding &source = binding(i);
  constexpr int64_t endless = int64_t(1) << 61; // sums of two are still 64-bit
  int64_t &known = maxima_.try_emplace(source.scalar.name(), endless).first->second;
  known = most ? std::min(known, most) : known;
  return source.scalar;
}

CacheAttr KernelBuilder::cacheOf(unsigned i) const {
  return cast<CacheAttr>(cast<RankedTensorType>(op_->getOperand(i).getType()).getEncoding());
}

int64_t KernelBuilder::cacheRows(unsigned i) const { return cacheOf(i).getMax(); }

Expr KernelBuilder::pastRows(unsigned i, unsigned count) {
  CacheAttr cache = cacheOf(i);
  if (!cache.getWindow())
    return cast<int32_t>(this->count(count, cache.getMax()));
  // The next row sees the rows from count − w + 1 on; they are given from the tile on that holds the first of them, so
  // that tiles lie as they do in the whole sequence.
  int window = int(cache.getWindow()), tile = keyTile();
  Expr taken = this->count(count), first = Halide::max(taken - whole(window - 1), whole(0));
  // The clamp changes nothing; it is what the bound of buffers is seen by.
  return Halide::select(taken < whole(window), cast<int32_t>(Halide::clamp(taken, whole(0), whole(window))),
                        window - 1 + cast<int32_t>(first % whole(tile)));
}

Expr KernelBuilder::cachedPast(unsigned i, unsigned count, Expr feature, Expr row) {
  CacheAttr cache = cacheOf(i);
  if (!cache.getWindow())
    return cached(i, feature, row);
  int window = int(cache.getWindow()), tile = keyTile(), tiles = int(cache.getMax() / tile);
  Expr first = Halide::max(this->count(count) - whole(window - 1), whole(0)) / whole(tile); // tile of the stream
  Expr place = cast<int32_t>(first % whole(tiles)) + row / tile;
  place = place % tiles;
  return cached(i, feature, place * tile + row % tile);
}

Expr KernelBuilder::cached(unsigned i, Expr feature, Expr row) {
  const Binding &source = binding(i);
  int tile = int(cacheOf(i).getTile()), features = int(this->features(i));
  if (!tile)
    return source.image(row * features + feature);
  return source.image(row / tile * (features * tile) + feature * tile + row % tile);
}

bool KernelBuilder::keysInLanes(unsigned i) const { return binding(i).keysInLanes; }

int64_t KernelBuilder::mostRows(unsigned i) const {
  Type type = op_->getOperand(i).getType();
  RowsAttr rows = rowsOf(type);
  return rows ? rows.getMax() : rowsEach(type);
}

int KernelBuilder::rowLanes() const { return target_.rowLanes; }
int KernelBuilder::keyTile() const { return target_.keyTile; }

int KernelBuilder::queryTile(unsigned i) const { return hasOneRow(i) ? 1 : int(queryTileRows); }

// ---- Records -------------------------------------------------------------------------------------------------------

Func KernelBuilder::keep(Func value, int64_t features) {
  for (auto &[ir, binding] : values_)
    if (binding.kind == Binding::Kind::Rows && binding.stored && binding.func.name() == value.name())
      return value; // an argument or another group's output is in memory already
  group_.kept.push_back({value, features});
  return value;
}

Func KernelBuilder::combineLanes(Func x, int lanes, bool largest, std::vector<Func> &halves, const std::string &name) {
  // halves[n](l, …) = x(l, …) ∘ x(l + lanes/2, …), then the same on the result, down to one value.
  std::vector<Var> others = x.args();
  Var lane = others.front();
  others.erase(others.begin());
  auto at = [&](Func f, Expr l) {
    std::vector<Expr> place{l};
    place.insert(place.end(), others.begin(), others.end());
    return Expr(f(place));
  };
  auto join = [&](Expr a, Expr b) { return Halide::strict_float(largest ? Halide::max(a, b) : a + b); };
  for (lanes /= 2; lanes > 1; lanes /= 2) {
    Func half(name + "_" + std::to_string(lanes));
    half(x.args()) = join(at(x, lane), at(x, lane + lanes));
    halves.push_back(half);
    x = half;
  }
  Func all(name);
  all(others) = join(at(x, 0), at(x, 1));
  return all;
}

Func KernelBuilder::rowSum(Func x, int64_t features, const std::string &name) {
  // partial(l, row) = Σ_i x(l + L·i, row), i in order; the lanes beyond the last feature add nothing.
  int lanes = rowLanes();
  RowSumStage stage;
  stage.whole = features / lanes;
  stage.rest = features % lanes;
  Var lane = axis::lane(), row = axis::row();
  stage.partial = Func(name + "_partial");
  stage.partial(lane, row) = 0.0f;
  RDom group(0, int(stage.whole), name + "_group"), rest(0, int(stage.rest), name + "_rest");
  if (stage.whole)
    stage.partial(lane, row) = Halide::strict_float(stage.partial(lane, row) + x(group * lanes + lane, row));
  if (stage.rest)
    stage.partial(rest, row) = Halide::strict_float(stage.partial(rest, row) + x(int(stage.whole) * lanes + rest, row));
  stage.sum = combineLanes(stage.partial, lanes, false, stage.halves, name);
  group_.sums.push_back(stage);
  return stage.sum;
}

void KernelBuilder::rowValue(Func value) { group_.rowValues.push_back({value}); }
void KernelBuilder::contract(ContractStage stage) { group_.contract = stage; }
void KernelBuilder::attend(AttendStage stage) { group_.attend = stage; }
void KernelBuilder::pool(PoolStage stage) { group_.pool = stage; }

void KernelBuilder::writeCache(unsigned i, Func fresh, Expr rows, unsigned count) {
  CacheAttr cache = cacheOf(i);
  int tile = int(cache.getTile()), features = int(this->features(i));
  Func write("cache_rows");
  if (Halide::Internal::is_const_one(rows)) { // the caller hands in the row's place
    write(axis::feature(), axis::row()) = fresh(axis::feature(), 0);
    write.output_buffer().dim(0).set_bounds(0, features).set_stride(tile ? tile : 1);
    write.output_buffer().dim(1).set_bounds(0, 1);
    writes_.push_back({write, features});
    return;
  }
  // The whole storage, of which only the rows' places are written. The rows of a ring come round.
  int64_t most = cache.getMax();
  Expr taken = this->count(count, cache.getWindow() ? 0 : most);
  RDom r(0, features, 0, rows, "fresh");
  Expr place = cast<int32_t>(taken % whole(most)) + r.y;
  place = Halide::clamp(Halide::select(place < int(most), place, place - int(most)), 0, int(most) - 1);
  Expr element = tile ? place / tile * (features * tile) + r.x * tile + place % tile : place * features + r.x;
  write(axis::feature()) = Halide::undef<float>();
  write(element) = fresh(r.x, r.y);
  write.output_buffer().dim(0).set_bounds(0, int(storageElements(op_->getOperand(i).getType())));
  writes_.push_back({write, features, /*scattered=*/true});
}

Func KernelBuilder::writeAccumulator(unsigned i, Func value, Expr rows) {
  auto type = cast<RankedTensorType>(op_->getOperand(i).getType());
  int64_t features = type.getDimSize(type.getRank() - 1);
  roots_.push_back({value, features});
  Func write("accumulator");
  write(axis::feature()) = rows.defined() ? value(axis::feature(), rows - 1) : value(axis::feature());
  write.output_buffer().dim(0).set_bounds(0, int(features));
  writes_.push_back({write, features});
  return value;
}

void KernelBuilder::define(Func y) { define(y, rowsOfType(op_->getResult(0).getType())); }

void KernelBuilder::define(Func y, Expr rows) {
  Binding result;
  result.kind = Binding::Kind::Rows;
  result.func = y;
  result.rows = rows;
  values_[op_->getResult(0)] = result;
}

void KernelBuilder::defineCached(Func y, Expr rows) {
  define(y, rows);
  for (Value operand : op_->getOperands())
    if (auto cache = dyn_cast_or_null<CacheAttr>(cast<RankedTensorType>(operand.getType()).getEncoding()))
      values_[op_->getResult(0)].keysInLanes = cache.getTile() > 0;
}

// ---- Groups --------------------------------------------------------------------------------------------------------

void KernelBuilder::buildFunction(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = function->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
      for (auto [argument, operand] : llvm::zip(callee.getArguments(), call.getOperands()))
        bind(argument, values_.lookup(operand));
      buildFunction(callee);
      Operation *end = callee.getBody().front().getTerminator();
      if (end->getNumOperands() == 0) // it only writes
        continue;
      bool last = call->getNextNode()->hasTrait<OpTrait::IsTerminator>() && call.getResult(0).hasOneUse();
      finishGroup(callee, end->getOperand(0), !last);
      bind(call.getResult(0), values_.lookup(end->getOperand(0)));
    } else if (auto room = dyn_cast<KernelOpInterface>(op)) {
      op_ = &op;
      room.buildKernel(*this);
    }
  }
}

void KernelBuilder::finishGroup(func::FuncOp function, Value result, bool intermediate) {
  Binding &value = values_[result];
  group_.kernelClass = *kernelClassNamed(function->getAttrOfType<StringAttr>(attribute::kernel).getValue());
  group_.features = featuresOf(result.getType());
  group_.fixedRows = Halide::Internal::as_const_int(value.rows).value_or(0);
  group_.intermediate = intermediate;
  group_.choice = choice_;
  if (!group_.kept.empty() && group_.kept.back().value.name() == value.func.name())
    group_.kept.pop_back(); // the output is stored anyhow
  if (value.stored) {       // an argument handed through
    Func copy("copy");
    copy(axis::feature(), axis::row()) = value.func(axis::feature(), axis::row());
    value.func = copy;
  }
  group_.output = value.func;
  groups_.push_back(group_);
  group_ = KernelGroup();
  value.stored = true;
}

std::string KernelBuilder::build() {
  auto kernelClass = kernelClassNamed(kernel_->getAttrOfType<StringAttr>(attribute::kernel).getValue());
  if (!kernelClass)
    return "unknown kernel class";
  if (kernel_.getNumResults() > 1 && *kernelClass != KernelClass::Whole)
    return "a kernel of one group with " + std::to_string(kernel_.getNumResults()) + " results; expected one";
  bindArguments();
  buildFunction(kernel_);
  if (*kernelClass != KernelClass::Whole && kernel_.getNumResults())
    finishGroup(kernel_, kernel_.getBody().front().getTerminator()->getOperand(0), false);
  addOutputs();

  const Schedules &schedules = target_.schedules();
  for (const KernelGroup &group : groups_) {
    switch (group.kernelClass) {
    case KernelClass::Pointwise:
      schedules.pointwise(group, target_);
      break;
    case KernelClass::RowReduce:
      schedules.rowReduce(group, target_);
      break;
    case KernelClass::Contract:
      schedules.contract(group, target_);
      break;
    case KernelClass::Attend:
      schedules.attend(group, target_);
      break;
    case KernelClass::Pool:
      schedules.pool(group, target_);
      break;
    case KernelClass::Whole:
      return "a whole kernel inside a whole kernel";
    }
    if (group.intermediate)
      schedules.intermediate(group, target_);
  }
  for (const StateWrite &root : roots_)
    schedules.stored(root, target_);
  for (const StateWrite &write : writes_)
    schedules.stateWrite(write, target_);
  return "";
}

void KernelBuilder::addOutputs() {
  for (Value result : kernel_.getBody().front().getTerminator()->getOperands()) {
    Binding &value = values_[result];
    Func output = value.func;
    bool isOutput = llvm::any_of(
        groups_, [&](const KernelGroup &group) { return !group.intermediate && group.output.name() == output.name(); });
    if (!isOutput) { // read by later groups as well: the output is a copy
      output = Func("result");
      output(axis::feature(), axis::row()) = value.func(axis::feature(), axis::row());
      KernelGroup group;
      group.output = output;
      group.features = featuresOf(result.getType());
      group.fixedRows = Halide::Internal::as_const_int(value.rows).value_or(0);
      groups_.push_back(group);
    }
    int features = int(featuresOf(result.getType()));
    output.output_buffer().dim(0).set_bounds(0, features);
    auto rows = output.output_buffer().dim(1);
    if (takesFirstTile(kernel_, target_)) { // some rows of the sequence: whole tiles, at least to the sequence's end
      int64_t most = rowsOf(result.getType()).getMax();
      rows.set_min(firstTile_ * int(queryTileRows));
      maxima_[firstTile_.name()] = most / queryTileRows;
      maxima_[output.name() + ".extent.1"] = most;
    } else {
      rows.set_bounds(0, value.rows);
    }
    rows.set_stride(features);
    outputs_.push_back(output);
  }
  for (const StateWrite &write : writes_)
    outputs_.push_back(write.value);
}

Halide::Pipeline KernelBuilder::pipeline() const { return Halide::Pipeline(outputs_); }

} // namespace burin
