// allocate_state: all state in one flat block. Each value gets its layout and its offset; the block begins with a
// header of 64 bytes that the runtime owns (fingerprint, position).
//
// It stands after derive_step, which makes the values, and before form_kernels, so that a kernel's operands have their
// final types. Keys of a cache lie across lanes, as the target's attention reads them; everything else in plain rows.
#include "passes/passes.h"
#include "schedules/targets.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_ALLOCATESTATE
#include "passes/passes.h.inc"

namespace {

constexpr int64_t alignment = 64, headerBytes = 64;

struct AllocateState : impl::AllocateStateBase<AllocateState> {
  using AllocateStateBase::AllocateStateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (!step)
      return;
    const Target *row = findTarget(target);
    if (!row) {
      module.emitError() << "target '" << target << "' is not known";
      return signalPassFailure();
    }
    Builder builder(module.getContext());
    int64_t offset = headerBytes;
    step.walk([&](StateOp state) {
      auto type = cast<RankedTensorType>(state.getType());
      if (state->removeAttr(attribute::keys)) {
        int64_t max = cast<CacheAttr>(type.getEncoding()).getMax();
        type = type.cloneWithEncoding(CacheAttr::get(&getContext(), row->keyTile, max));
        state.getResult().setType(type);
      }
      state.setOffset(offset);
      offset += llvm::alignTo(storageElements(type) * type.getElementTypeBitWidth() / 8, alignment);
    });
    module->setAttr(attribute::stateBytes, builder.getI64IntegerAttr(offset));
  }
};

} // namespace
} // namespace burin
