// Looks for
//
//   for panel
//     for row_tile in 0 … tiles
//       for k
//         … weights[f(panel, k)] …
//
// and makes of it
//
//   for panel
//     if tiles ≥ 3
//       for row_tile in 0 … tiles
//         for k
//           prefetch weights[f(panel + 1, first k) + (row_tile % turns · |k| + k) · line]
//           … weights[f(panel, k)] …
//     else
//       for row_tile in 0 … tiles
//         for k
//           … weights[f(panel, k)] …
//
// Rejected: that every tile asks for its line of what an iteration reads, which saves a register. Several passes over
// the same stretch of memory took back half of what is gained.
#include "schedules/panel_prefetch.h"
#include <set>

using namespace Halide::Internal;
using Halide::Expr;

namespace burin {

namespace {
/// Derived: what is smaller may be in L2 from the call before, and asking would cost what it saves.
constexpr int64_t leastBytes = 128 * 1024;
/// Measured: with one tile or two, requests cost more than they save. Fewer rows than these have no more.
constexpr int leastTiles = 3, leastRows = 16;
constexpr int lineBytes = 64;

bool isLoopOver(const For *loop, const std::string &axis) {
  const std::string end = "." + axis;
  return loop->for_type == ForType::Serial && loop->name.size() > end.size() &&
         loop->name.compare(loop->name.size() - end.size(), end.size(), end) == 0;
}

/// Vectors of the weights that the body of a loop reads.
class WeightLoads : public IRVisitor {
public:
  WeightLoads(const std::map<std::string, Expr> &lets, const std::string &panel, const std::string &k)
      : lets_(lets), panel_(panel), k_(k) {}

  const Load *first = nullptr;
  Expr firstIndex; // of its first lane, without lets
  int64_t bytes() const { return first ? int64_t(indices_.size()) * first->type.lanes() * first->type.bytes() : 0; }

private:
  using IRVisitor::visit;

  void visit(const LetStmt *let) override {
    lets_[let->name] = substitute(lets_, let->value);
    IRVisitor::visit(let);
  }

  void visit(const Load *load) override {
    IRVisitor::visit(load);
    const Ramp *ramp = load->index.as<Ramp>();
    if (!ramp || !is_const_one(ramp->stride) || !load->param.defined() || (first && first->name != load->name))
      return;
    Expr index = substitute(lets_, ramp->base);
    if (!expr_uses_var(index, panel_) || !expr_uses_var(index, k_))
      return;
    if (!first) {
      first = load;
      firstIndex = index;
    }
    indices_.insert(index);
  }

  std::map<std::string, Expr> lets_;
  std::string panel_, k_;
  std::set<Expr, IRDeepCompare> indices_;
};

/// In the body of a panel's loop over tiles of rows: requests in the loops over the panel's terms.
class RequestInTile : public IRMutator {
public:
  RequestInTile(const For &panel, const For &tile, const std::map<std::string, Expr> &lets)
      : panel_(panel), tile_(tile), lets_(lets) {}

  bool found = false;

private:
  using IRMutator::visit;

  Halide::Internal::Stmt visit(const LetStmt *let) override {
    lets_[let->name] = substitute(lets_, let->value);
    return IRMutator::visit(let);
  }

  Halide::Internal::Stmt visit(const For *loop) override {
    WeightLoads loads(lets_, panel_.name, loop->name);
    loop->body.accept(&loads);
    auto panels = as_const_int(panel_.extent), terms = as_const_int(loop->extent);
    if (loop->for_type != ForType::Serial || !loads.first || !panels || !terms ||
        *panels * *terms * loads.bytes() < leastBytes)
      return IRMutator::visit(loop);
    found = true;

    // Tiles take turns: each asks for a stretch of the panel, line after line, some in an iteration.
    int lines = int((loads.bytes() + lineBytes - 1) / lineBytes), values = lineBytes / loads.first->type.bytes();
    int requests = (lines + leastTiles - 1) / leastTiles, turns = (lines + requests - 1) / requests;
    Expr turn = (Variable::make(Halide::Int(32), tile_.name) - tile_.min) % turns;
    Expr k = Variable::make(Halide::Int(32), loop->name), panel = Variable::make(Halide::Int(32), panel_.name);
    Expr next = substitute({{panel_.name, panel + 1}, {loop->name, loop->min}}, loads.firstIndex);
    Expr weights = Variable::make(Halide::Handle(), loads.first->name);
    Halide::Internal::Stmt body = loop->body;
    for (int i = requests - 1; i >= 0; --i) {
      Expr place = next + ((turn * loop->extent + (k - loop->min)) * requests + i) * values;
      Expr request =
          Call::make(loads.first->type.element_of(), Call::prefetch, {weights, place, 1, 1}, Call::Intrinsic);
      body = Block::make(Evaluate::make(request), body);
    }
    return For::make(loop->name, loop->min, loop->extent, loop->for_type, loop->partition_policy, loop->device_api,
                     body);
  }

  const For &panel_, &tile_;
  std::map<std::string, Expr> lets_;
};

class PrefetchPanels : public IRMutator {
  using IRMutator::visit;

  Halide::Internal::Stmt visit(const LetStmt *let) override {
    lets_[let->name] = substitute(lets_, let->value);
    return IRMutator::visit(let);
  }

  Halide::Internal::Stmt visit(const For *loop) override {
    if (panel_ && isLoopOver(loop, "row_tile")) {
      RequestInTile request(*panel_, *loop, lets_);
      Halide::Internal::Stmt requesting = request.mutate(Halide::Internal::Stmt(loop));
      return request.found ? IfThenElse::make(loop->extent >= leastTiles, requesting, Halide::Internal::Stmt(loop))
                           : Halide::Internal::Stmt(loop);
    }
    const For *outer = panel_;
    if (isLoopOver(loop, "panel"))
      panel_ = loop;
    Halide::Internal::Stmt result = IRMutator::visit(loop);
    panel_ = outer;
    return result;
  }

  std::map<std::string, Expr> lets_;
  const For *panel_ = nullptr;
};

class FindRequests : public IRVisitor {
public:
  bool found = false;

private:
  using IRVisitor::visit;
  void visit(const Call *call) override {
    found |= call->is_intrinsic(Call::prefetch);
    IRVisitor::visit(call);
  }
};
} // namespace

void addPanelPrefetch(Halide::Pipeline &pipeline, const Halide::Target &target, int64_t rows) {
  if (target.arch == Halide::Target::X86 && !target.has_gpu_feature() && (rows == 0 || rows >= leastRows))
    pipeline.add_custom_lowering_pass(new PrefetchPanels); // the pipeline deletes it
}

bool asksForPanels(const LoweredFunc &kernel) {
  FindRequests requests;
  kernel.body.accept(&requests);
  return requests.found;
}

} // namespace burin
