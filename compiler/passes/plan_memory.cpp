// plan_memory: where intermediate values lie. One scratch arena, a region for each axis (the rows of a time symbol, a
// row per sequence, one row); in it a value has an offset in bytes *per row*, so that one plan serves any number of
// rows.
//
// It stands after share_kernels, when the calls of an entry are final. A value lives from the call that makes it to the
// last call that reads it; values that never live together share bytes. Results of an entry lie in the caller's memory
// and need none. What a kernel allocates inside is added by emit, when kernels are compiled.
#include "passes/passes.h"
#include "runtime/burin_plan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace burin {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/passes.h.inc"

namespace {

constexpr int64_t alignment = 64;

struct Placed {
  int region;
  int64_t first, last; // calls between which the value lives
  int64_t offset, bytes;
};

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(module.getContext());
    SmallVector<Attribute> symbols; // time symbols in order of appearance, with their maxima
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    auto note = [&](StringAttr symbol, int64_t max) {
      NamedAttribute named(symbol, builder.getI64IntegerAttr(max));
      Attribute entry = builder.getDictionaryAttr(named);
      if (!llvm::is_contained(symbols, entry))
        symbols.push_back(entry);
    };
    for (Type type : forward.getArgumentTypes()) {
      if (RowsAttr rows = rowsOf(type))
        note(rows.getSymbol(), rows.getMax());
      if (auto pairs = dyn_cast_or_null<PairsAttr>(cast<RankedTensorType>(type).getEncoding())) {
        note(pairs.getQuery(), pairs.getQueryMax());
        note(pairs.getKey(), pairs.getKeyMax());
      }
    }
    module->setAttr(attribute::axes, builder.getArrayAttr(symbols));
    for (func::FuncOp entry : entriesOf(module))
      plan(entry, symbols);
  }

  static int regionOf(Type type, ArrayRef<Attribute> symbols) {
    if (RowsAttr rows = rowsOf(type))
      for (auto [index, symbol] : llvm::enumerate(symbols))
        if (cast<DictionaryAttr>(symbol).contains(rows.getSymbol()))
          return index;
    return isa_and_nonnull<PerSequenceAttr>(cast<RankedTensorType>(type).getEncoding()) ? BURIN_MAX_AXES
                                                                                        : BURIN_MAX_AXES + 1;
  }

  void plan(func::FuncOp entry, ArrayRef<Attribute> symbols) {
    Builder builder(entry.getContext());
    SmallVector<Placed> placed;
    SmallVector<int64_t> regionBytes(BURIN_MAX_AXES + 2, 0);
    SmallVector<func::CallOp> calls(entry.getOps<func::CallOp>());
    DenseMap<Operation *, int64_t> numberOf;
    for (auto [number, call] : llvm::enumerate(calls))
      numberOf[call] = number;

    for (auto [number, call] : llvm::enumerate(calls)) {
      SmallVector<int64_t> offsets;
      for (Value result : call.getResults()) {
        if (llvm::any_of(result.getUsers(), llvm::IsaPred<func::ReturnOp>)) {
          offsets.push_back(-1); // in the caller's output
          continue;
        }
        int64_t last = number;
        for (Operation *user : result.getUsers())
          last = std::max(last, numberOf.lookup(user));
        int64_t bytes = llvm::alignTo(rowsEach(result.getType()) * featuresOf(result.getType()) * 4, alignment);
        Placed value{regionOf(result.getType(), symbols), int64_t(number), last, 0, bytes};
        // First fit: the lowest offset at which no value that lives at the same time lies.
        for (bool moved = true; moved;) {
          moved = false;
          for (const Placed &other : placed)
            if (other.region == value.region && other.last >= value.first && value.last >= other.first &&
                other.offset < value.offset + bytes && value.offset < other.offset + other.bytes) {
              value.offset = other.offset + other.bytes;
              moved = true;
            }
        }
        placed.push_back(value);
        regionBytes[value.region] = std::max(regionBytes[value.region], value.offset + bytes);
        offsets.push_back(value.offset);
      }
      call->setAttr(attribute::scratch, builder.getDenseI64ArrayAttr(offsets));
    }
    entry->setAttr(attribute::scratchRowBytes, builder.getDenseI64ArrayAttr(regionBytes));
  }
};

} // namespace
} // namespace burin
