// allocate_state: all state in one flat block. Each value gets its layout and its offset; the block begins with a
// header that the runtime owns (fingerprint, positions).
//
// It stands after derive_step, which makes the values, and before form_kernels, so that a kernel's operands have their
// final types. Keys of a cache lie across lanes, as the target's attention reads them; everything else in plain rows.
#include "passes/passes.h"
#include "runtime/burin_plan.h"
#include "schedules/targets.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_ALLOCATESTATE
#include "passes/passes.h.inc"

namespace {

constexpr int64_t hostAlignment = 64;
constexpr int64_t deviceAlignment = 512; // GPU APIs bind buffers at such places (pack_weights)

struct AllocateState : impl::AllocateStateBase<AllocateState> {
  using AllocateStateBase::AllocateStateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr(attribute::streams))
      return;
    const Target *row = findTarget(target);
    if (!row) {
      module.emitError() << "target '" << target << "' is not known";
      return signalPassFailure();
    }
    Builder builder(module.getContext());
    int64_t alignment = row->device.empty() ? hostAlignment : deviceAlignment;
    int64_t offset = llvm::alignTo(BURIN_STATE_HEADER_BYTES, alignment);
    llvm::StringMap<int64_t> offsets; // a value that two entries use is one
    // One error is enough: keys and values, and the entries that use them, are all as long.
    WalkResult fits = module.walk([&](StateOp state) {
      auto type = layOut(state, row->keyTile);
      if (storageElements(type) > std::numeric_limits<int32_t>::max()) { // kernels index with 32 bits
        state.emitError() << "state value '" << state.getName() << "' has " << storageElements(type)
                          << " elements, expected at most " << std::numeric_limits<int32_t>::max();
        return WalkResult::interrupt();
      }
      auto [known, isNew] = offsets.try_emplace(state.getName(), offset);
      if (isNew)
        offset += llvm::alignTo(storageElements(type) * type.getElementTypeBitWidth() / 8, alignment);
      state.setOffset(known->second);
      return WalkResult::advance();
    });
    if (fits.wasInterrupted())
      return signalPassFailure();
    module->setAttr(attribute::stateBytes, builder.getI64IntegerAttr(offset));
    // Rows that are taken at once: as many as a ring has room for beside its window.
    for (func::FuncOp entry : entriesOf(module))
      if (entry->hasAttr(attribute::many)) {
        int64_t most = row->keyTile;
        for (Type type : entry.getArgumentTypes())
          if (RowsAttr rows = rowsOf(type))
            most = std::min(most, rows.getMax());
        entry->setAttr(attribute::mostRows, builder.getI64IntegerAttr(most));
      }
  }

  RankedTensorType layOut(StateOp state, int64_t keyTile) {
    auto type = cast<RankedTensorType>(state.getType());
    bool keys = bool(state->removeAttr(attribute::keys));
    auto cache = dyn_cast_or_null<CacheAttr>(type.getEncoding());
    if (!cache)
      return type;
    int64_t max = cache.getMax(), features = type.getShape().back();
    // A ring has whole tiles, and room for the rows that are taken at once beside those that they still see: tiles lie
    // in it as they do in the whole sequence.
    if (cache.getWindow())
      max = llvm::alignTo(cache.getWindow() - 1 + keyTile, keyTile);
    type = RankedTensorType::get({max, features}, type.getElementType(),
                                 CacheAttr::get(&getContext(), keys ? keyTile : 0, max, cache.getWindow()));
    state.getResult().setType(type);
    for (Operation *user : state->getUsers()) {
      auto typed = cast<InferTypeOpInterface>(user);
      SmallVector<Type> types;
      if (failed(typed.inferReturnTypes(&getContext(), user->getLoc(), user->getOperands(), user->getAttrDictionary(),
                                        user->getPropertiesStorage(), user->getRegions(), types)))
        signalPassFailure();
      for (auto [result, inferred] : llvm::zip(user->getResults(), types))
        result.setType(inferred);
    }
    return type;
  }
};

} // namespace
} // namespace burin
