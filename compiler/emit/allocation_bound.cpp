#include "emit/allocation_bound.h"
#include "burin_plan.h"
#include "llvm/ADT/StringRef.h"

namespace burin {

namespace {
/// Walks a lowered kernel with an interval for every symbol and adds up the allocations that live at the same time.
class AllocationWalk : public Halide::Internal::IRVisitor {
public:
  AllocationWalk(const std::map<std::string, int64_t> &maxima,
                 const std::vector<Halide::Internal::LoweredArgument> &arguments)
      : maxima_(maxima) {
    for (const Halide::Argument &argument : arguments) // extents of buffers are read by lets, below
      if (auto known = maxima.find(argument.name); known != maxima.end() && argument.is_scalar())
        scope_.push(argument.name, interval(known->second, argument.type));
  }

  AllocationBound found;

private:
  using Interval = Halide::Internal::Interval;
  using IRVisitor::visit;

  static Interval interval(int64_t most, Halide::Type type) {
    return Interval(Halide::Internal::make_const(type, 0), Halide::Internal::make_const(type, most));
  }

  void visit(const Halide::Internal::LetStmt *let) override {
    let->value.accept(this);
    auto known = maxima_.find(let->name);
    Interval value = known != maxima_.end() ? interval(known->second, let->value.type())
                                            : Halide::Internal::bounds_of_expr_in_scope(let->value, scope_);
    scope_.push(let->name, value);
    let->body.accept(this);
    scope_.pop(let->name);
  }

  void visit(const Halide::Internal::For *loop) override {
    Interval first = Halide::Internal::bounds_of_expr_in_scope(loop->min, scope_);
    Interval last = Halide::Internal::bounds_of_expr_in_scope(loop->min + loop->extent - 1, scope_);
    scope_.push(loop->name, Interval(first.min, last.max));
    loop->body.accept(this);
    scope_.pop(loop->name);
  }

  void visit(const Halide::Internal::Allocate *allocate) override {
    using Halide::MemoryType;
    int64_t bytes = allocate->type.bytes();
    bool constant = true;
    for (const Halide::Expr &extent : allocate->extents) {
      auto fixed = Halide::Internal::as_const_int(extent);
      constant &= fixed.has_value();
      Halide::Expr most = Halide::Internal::simplify(Halide::Internal::bounds_of_expr_in_scope(extent, scope_).max);
      auto bound = most.defined() ? Halide::Internal::as_const_int(most) : std::nullopt;
      if (!bound) {
        if (found.unbounded.empty())
          found.unbounded = allocate->name;
        bound = 0;
      }
      bytes *= std::max<int64_t>(*bound, 0);
    }
    bytes += allocate->padding * allocate->type.bytes();
    // Halide puts small constant allocations on the stack by itself.
    bool stack =
        constant && (allocate->memory_type == MemoryType::Stack || allocate->memory_type == MemoryType::Register ||
                     (allocate->memory_type == MemoryType::Auto && bytes <= 16 * 1024));
    if (!stack)
      bytes = BURIN_ARENA_BLOCK_BYTES(bytes); // what the runtime's arena needs for it
    int64_t &now = stack ? stackNow_ : heapNow_;
    now += bytes;
    found.heapBytes = std::max(found.heapBytes, heapNow_);
    found.stackBytes = std::max(found.stackBytes, stackNow_);
    IRVisitor::visit(allocate);
    now -= bytes;
  }

  /// Kernels on a GPU are started by halide_<api>_run, whose 9th argument here is the shared memory of a block.
  void visit(const Halide::Internal::Call *call) override {
    llvm::StringRef name = call->name;
    if (name.starts_with("halide_") && name.ends_with("_run") && call->args.size() > 8) {
      Halide::Expr most =
          Halide::Internal::simplify(Halide::Internal::bounds_of_expr_in_scope(call->args[8], scope_).max);
      auto bound = most.defined() ? Halide::Internal::as_const_int(most) : std::nullopt;
      if (!bound && found.unbounded.empty())
        found.unbounded = "shared memory";
      found.sharedBytes = std::max(found.sharedBytes, bound.value_or(0));
    }
    IRVisitor::visit(call);
  }

  const std::map<std::string, int64_t> &maxima_;
  Halide::Internal::Scope<Interval> scope_;
  int64_t heapNow_ = 0, stackNow_ = 0;
};
} // namespace

AllocationBound boundAllocations(const Halide::Internal::LoweredFunc &kernel,
                                 const std::map<std::string, int64_t> &maxima) {
  AllocationWalk walk(maxima, kernel.args);
  kernel.body.accept(&walk);
  return walk.found;
}

} // namespace burin
