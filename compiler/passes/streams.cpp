#include "passes/streams.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace mlir;

namespace burin {

std::string Refusal::text() const {
  std::string place;
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    place = (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()) + ": ").str();
  return place + subject + ": " + reason + "; " + fix;
}

Streams::Streams(func::FuncOp forward) {
  for (BlockArgument argument : forward.getArguments()) {
    RowsAttr rows = rowsOf(argument.getType());
    if (!rows)
      continue; // a mask, which no stream takes
    valueStreams_[argument] = rows.getSymbol();
    maxima_[rows.getSymbol()] = rows.getMax();
    if (!llvm::is_contained(symbols_, rows.getSymbol()))
      symbols_.push_back(rows.getSymbol());
  }
  if (symbols_.empty())
    refuse(forward.getLoc(), "the graph", "it has no input along time", "give it one");
  for (Operation &op : forward.getBody().front())
    visit(op);
  if (!refusal_)
    chooseStep(forward);
}

void Streams::refuse(Location location, StringRef subject, const Twine &reason, const Twine &fix) {
  if (!refusal_)
    refusal_ = Refusal{location, subject.str(), reason.str(), fix.str()};
}

void Streams::visit(Operation &op) {
  auto streamable = dyn_cast<StreamableOpInterface>(op);
  if (!streamable)
    return;
  StringRef name = op.getName().stripDialect();
  SmallVector<StreamRule> rules = streamable.getStreamRules();
  assert(rules.size() == op.getNumOperands() && "a rule per operand");
  // The op belongs to the stream whose row it takes; an op that only looks back, to the one that it looks back at.
  StringAttr stream, behind;
  for (auto [operand, rule] : llvm::zip_equal(op.getOperands(), rules)) {
    if (rule.kind == StreamRule::Kind::Refused)
      return refuse(op.getLoc(), name, rule.reason, rule.fix);
    StringAttr &joined = rule.kind == StreamRule::Kind::LookBack ? behind : stream;
    StringAttr its = of(operand);
    if (joined && its && joined != its)
      return refuse(op.getLoc(), name,
                    "it joins rows of '" + joined.getValue() + "' and of '" + its.getValue() + "', which go on apart",
                    "let rows of one look at the other by attention");
    if (its)
      joined = its;
  }
  if (!stream)
    stream = behind;
  if (!stream)
    return;
  // A row of the result depends on every row so far of what it looks at in another stream. If those depend on rows of
  // this one, then also on such as come later.
  SmallVector<StringAttr, 2> seen;
  for (Value operand : op.getOperands()) {
    StringAttr its = of(operand);
    if (its && its != stream && dependsOn(operand, stream))
      return refuse(op.getLoc(), name,
                    "the rows of '" + its.getValue() + "' that it looks at depend on rows of '" + stream.getValue() +
                        "', so a row would need rows that come later",
                    "let one of the two look at the other, and not both");
    llvm::append_range(seen, looksAt_.lookup(operand));
    if (its && its != stream)
      seen.push_back(its);
  }
  opStreams_[&op] = stream;
  for (Value result : op.getResults()) {
    valueStreams_[result] = stream;
    if (!seen.empty())
      looksAt_[result] = seen;
  }
  for (auto [operand, rule] : llvm::zip_equal(op.getOpOperands(), rules)) {
    if (rule.kind == StreamRule::Kind::LookBack || rule.kind == StreamRule::Kind::Running)
      keep(operand, rule, stream);
    if (rule.kind == StreamRule::Kind::Counter && rule.end) {
      auto [end, isNew] = ends_.try_emplace(stream, rule.end);
      end->second = std::min(end->second, rule.end);
    }
  }
}

bool Streams::dependsOn(Value value, StringAttr stream) const {
  return of(value) == stream || llvm::is_contained(looksAt_.lookup(value), stream);
}

void Streams::keep(OpOperand &operand, const StreamRule &rule, StringAttr stream) {
  Operation *op = operand.getOwner();
  Builder builder(op->getContext());
  auto scope = op->getAttrOfType<StringAttr>(attribute::scope);
  std::string name = scope && !scope.getValue().empty() ? (scope.getValue() + "." + rule.name).str() : rule.name;
  if (int count = names_[name]++)
    name += "_" + std::to_string(count + 1);

  StringAttr its = of(operand.get());
  int64_t features = featuresOf(operand.get().getType());
  RankedTensorType storage;
  if (rule.kind == StreamRule::Kind::Running) {
    storage = RankedTensorType::get({features}, builder.getF64Type());
  } else {
    // allocate_state gives a ring the rows that it needs beside its window.
    int64_t max = rule.window ? rule.window : maxima_.lookup(its);
    storage = RankedTensorType::get({max, features}, builder.getF32Type(),
                                    CacheAttr::get(op->getContext(), 0, max, rule.window));
    if (!rule.window)
      capacities_[its] = maxima_.lookup(its);
  }
  keptFor_[&operand] = kept_.size();
  kept_.push_back({name, op->getLoc(), operand.get(), its, storage, rule.keys, its != stream});
}

const KeptValue *Streams::keptFor(OpOperand &operand) const {
  auto found = keptFor_.find(&operand);
  return found == keptFor_.end() ? nullptr : &kept_[found->second];
}

void Streams::chooseStep(func::FuncOp forward) {
  Operation *end = forward.getBody().front().getTerminator();
  StringAttr step;
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    StringAttr its = of(value);
    auto name = forward.getResultAttrOfType<StringAttr>(index, attribute::name);
    std::string output = "output '" + (name ? name.str() : std::to_string(index)) + "'";
    if (!its)
      return refuse(forward.getLoc(), "the graph", output + " depends on no input along time",
                    "make it of an input, or give it a graph of its own");
    if (step && step != its)
      return refuse(forward.getLoc(), "the graph",
                    output + " goes on with '" + its.getValue() + "', and another with '" + step.getValue() + "'",
                    "give each of them a graph of its own");
    step = its;
  }
  std::stable_partition(symbols_.begin(), symbols_.end(), [&](StringAttr symbol) { return symbol == step; });
}

int64_t Streams::boundOf(const llvm::DenseMap<StringAttr, int64_t> &bounds, StringAttr symbol) {
  auto found = bounds.find(symbol);
  return found == bounds.end() ? -1 : found->second;
}

} // namespace burin
