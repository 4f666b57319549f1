// For vectors of any type, with c a scalar and m a mask:
//
//   select(c, x, y)   becomes   select(broadcast(int(c)) ≠ 0, x, y)
//   not m             becomes   m xor true
#include "schedules/vector_predication.h"

using namespace Halide::Internal;

namespace burin {

namespace {
class WriteOutMasks : public IRMutator {
  using IRMutator::visit;

  Halide::Expr visit(const Select *op) override {
    Halide::Expr mutated = IRMutator::visit(op);
    const Select *select = mutated.as<Select>();
    if (!select || select->type.is_scalar())
      return mutated;
    Halide::Expr condition = select->condition;
    if (const Broadcast *broadcast = condition.as<Broadcast>())
      condition = broadcast->value; // as the back end does
    if (condition.type().is_vector())
      return mutated;
    Halide::Type type = Halide::Int(32, select->type.lanes());
    Halide::Expr all = Broadcast::make(Cast::make(type.element_of(), condition), type.lanes());
    return Select::make(NE::make(all, make_zero(type)), select->true_value, select->false_value);
  }

  Halide::Expr visit(const Not *op) override {
    Halide::Expr mask = mutate(op->a);
    if (mask.type().is_scalar())
      return Not::make(mask);
    return Call::make(mask.type(), Call::bitwise_xor, {mask, make_one(mask.type())}, Call::PureIntrinsic);
  }
};
} // namespace

void addVectorPredication(Halide::Pipeline &pipeline, const Halide::Target &target) {
  if (target.has_feature(Halide::Target::RVV))
    pipeline.add_custom_lowering_pass(new WriteOutMasks); // the pipeline deletes it
}

} // namespace burin
