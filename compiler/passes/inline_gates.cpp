// inline_gates: the ops of a gate's region move before it, and the gate becomes a gated_add of what they yield.
//
// It stands after canonicalize, so that what is inside a region and what is outside were not merged into one op, and
// before derive_step, which sees a flat list: what a stream must keep, it keeps whether a gate is open or not. That the
// ops need not run where every row is closed is found again by form_kernels, from what reads their results.
#include "passes/passes.h"

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_INLINEGATES
#include "passes/passes.h.inc"

namespace {

struct InlineGates : impl::InlineGatesBase<InlineGates> {
  void runOnOperation() override {
    SmallVector<GateOp> gates; // those inside a gate's region before it
    getOperation().walk<WalkOrder::PostOrder>([&](GateOp gate) { gates.push_back(gate); });
    for (GateOp gate : gates) {
      Block &body = gate.getBody().front();
      auto yield = cast<YieldOp>(body.getTerminator());
      Value update = yield.getUpdate();
      yield.erase();
      gate->getBlock()->getOperations().splice(gate->getIterator(), body.getOperations());
      OpBuilder builder(gate);
      auto sum = GatedAddOp::create(builder, gate.getLoc(), gate.getX(), gate.getSignal(), update, gate.getThreshold());
      if (Attribute scope = gate->getAttr(attribute::scope))
        sum->setAttr(attribute::scope, scope);
      gate.replaceAllUsesWith(sum.getResult());
      gate.erase();
    }
  }
};

} // namespace
} // namespace burin
