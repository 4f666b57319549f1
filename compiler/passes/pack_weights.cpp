// pack_weights: one packed layout per weight, one blob per kernel call.
//
// All weights of a kernel lie one after another in a blob, each at a static offset, so that a kernel takes one buffer
// and no weight needs a descriptor. A weight that a contract reads lies in panels `[N / width][K][width]`; the width is
// the target's choice for that weight, or a record's, never a row bucket's, so one packing serves every bucket. Vectors
// are padded with zeros to a whole vector of any target.
//
// It stands last: it needs the final kernels and calls. Two calls that read the same parameters in the same layout (a
// kernel of forward and one of step) share a blob.
#include "passes/passes.h"
#include "schedules/packed_panels.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/passes.h.inc"

namespace {

constexpr int64_t alignmentFloats = 16;      // 64 bytes
constexpr int64_t deviceBlobAlignment = 512; // bytes; GPU APIs bind buffers at such places, others would be copied

struct PackWeights : impl::PackWeightsBase<PackWeights> {
  using PackWeightsBase::PackWeightsBase;
  const Target *row = nullptr;
  llvm::StringMap<int64_t> tuned; // vectors in a row of a panel, by "KxN"

  void runOnOperation() override {
    ModuleOp module = getOperation();
    row = findTarget(target);
    if (!row) {
      module.emitError() << "target '" << target << "' is not known";
      return signalPassFailure();
    }
    if (!readPanels()) {
      module.emitError() << "panels '" << panels << "', expected a list such as 384x1536=2,64x64=1";
      return signalPassFailure();
    }
    Builder builder(module.getContext());
    llvm::StringMap<int64_t> blobs; // parameters and layout of a blob, to its offset
    int64_t bytes = 0;
    for (func::FuncOp entry : entriesOf(module))
      for (auto call : entry.getOps<func::CallOp>()) {
        auto kernel = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (!kernel->hasAttr(attribute::blobBytes))
          layOut(kernel, call);
        int64_t size = kernel->getAttrOfType<IntegerAttr>(attribute::blobBytes).getInt();
        if (size == 0)
          continue;
        if (!row->device.empty())
          bytes = llvm::alignTo(bytes, deviceBlobAlignment);
        auto [blob, isNew] = blobs.try_emplace(keyOf(kernel, call), bytes);
        if (isNew)
          bytes += size;
        call->setAttr(attribute::blob, builder.getI64IntegerAttr(blob->second));
      }
    module->setAttr(attribute::weightsBytes, builder.getI64IntegerAttr(bytes));
  }

  bool readPanels() {
    tuned.clear();
    SmallVector<StringRef> items;
    StringRef(panels).split(items, ',', -1, /*KeepEmpty=*/false);
    for (StringRef item : items) {
      auto [size, vectors] = item.split('=');
      if (vectors.getAsInteger(10, tuned[size]) || tuned[size] < 1)
        return false;
    }
    return true;
  }

  /// The same for all weights of a size, so that whatever kernels read one agree.
  int64_t widthOf(Precision precision, int64_t inputs, int64_t outputs) const {
    auto chosen = tuned.find(std::to_string(inputs) + "x" + std::to_string(outputs));
    bool fillsVector = outputs >= row->lanes;
    return chosen != tuned.end() && fillsVector ? chosen->second * row->lanes
                                                : panelWidth(*row, precision, inputs, outputs);
  }

  static bool isWeight(Value value) { return isa_and_nonnull<ParameterOp, ConcatenateOp>(value.getDefiningOp()); }

  /// The op of the kernel, or of a kernel that it calls, that reads `argument` as panels; null for none.
  static KernelOpInterface contractThatReads(Value argument, ModuleOp module) {
    for (OpOperand &use : argument.getUses()) {
      if (auto op = dyn_cast<KernelOpInterface>(use.getOwner())) {
        if (op.getPanelOperand() == int(use.getOperandNumber()))
          return op;
      } else if (auto call = dyn_cast<func::CallOp>(use.getOwner())) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (auto op = contractThatReads(callee.getArgument(use.getOperandNumber()), module))
          return op;
      }
    }
    return {};
  }

  void layOut(func::FuncOp kernel, func::CallOp call) {
    Builder builder(&getContext());
    int64_t floats = 0;
    for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
      if (!isWeight(operand))
        continue;
      auto type = cast<RankedTensorType>(operand.getType());
      kernel.setArgAttr(index, attribute::weightOffset, builder.getI64IntegerAttr(floats));
      int64_t size = type.getNumElements();
      if (auto contract = contractThatReads(kernel.getArgument(index), getOperation())) {
        bool outIn = contract.panelsAreOutIn();
        int64_t inputs = type.getDimSize(outIn ? 1 : 0), outputs = type.getDimSize(outIn ? 0 : 1);
        Precision precision = precisionOf(contract);
        PackedPanels packed(*row, precision, inputs, outputs, widthOf(precision, inputs, outputs));
        kernel.setArgAttr(index, attribute::panel, builder.getI64IntegerAttr(packed.width));
        if (outIn)
          kernel.setArgAttr(index, attribute::outIn, builder.getUnitAttr());
        if (packed.precision != Precision::Float32)
          kernel.setArgAttr(index, attribute::packedAs, builder.getStringAttr(precisionName(packed.precision)));
        size = packed.floats;
      }
      floats += llvm::alignTo(size, alignmentFloats);
    }
    kernel->setAttr(attribute::blobBytes, builder.getI64IntegerAttr(floats * 4));
  }

  static std::string keyOf(func::FuncOp kernel, func::CallOp call) {
    std::string key;
    llvm::raw_string_ostream stream(key);
    for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
      if (!isWeight(operand))
        continue;
      stream << kernel.getArgAttr(index, attribute::weightOffset) << "/" << kernel.getArgAttr(index, attribute::panel)
             << "/" << kernel.getArgAttr(index, attribute::packedAs) << ":";
      if (auto parameter = operand.getDefiningOp<ParameterOp>())
        stream << parameter.getName();
      else
        for (Value part : operand.getDefiningOp<ConcatenateOp>().getParts())
          stream << part.getDefiningOp<ParameterOp>().getName() << ",";
      stream << ";";
    }
    return key;
  }
};

} // namespace
} // namespace burin
