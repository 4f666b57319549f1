// The dialect, its encodings (what the dimensions of a tensor count), and the base classes of its ops.
#ifndef BURIN_ENCODER_TD
#define BURIN_ENCODER_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/interfaces.td"

def Encoder_Dialect : Dialect {
  let name = "encoder";
  let cppNamespace = "::burin";
  let useDefaultAttributePrinterParser = 1;
}

class Encoder_Encoding<string name, string attrMnemonic> : AttrDef<Encoder_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Encoder_RowsAttr : Encoder_Encoding<"Rows", "rows"> {
  let summary = "rows count the time steps of `symbol`, at most `max` in one sequence";
  let description = [{An empty symbol stands for the rows that a stream keeps: as many as it has taken, or some last ones.}];
  let parameters = (ins "::mlir::StringAttr":$symbol, "int64_t":$max);
  let assemblyFormat = "`<` $symbol `,` $max `>`";
}

def Encoder_PerSequenceAttr : Encoder_Encoding<"PerSequence", "per_sequence"> {
  let summary = "`rows` rows for each sequence, one where nothing else is said";
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$rows);
  let assemblyFormat = "(`<` $rows^ `>`)?";
}

def Encoder_PairsAttr : Encoder_Encoding<"Pairs", "pairs"> {
  let summary = "a block [queries, keys] for each sequence: what a mask is";
  let parameters = (ins "::mlir::StringAttr":$query, "int64_t":$query_max, "::mlir::StringAttr":$key, "int64_t":$key_max);
  let assemblyFormat = "`<` $query `,` $query_max `,` $key `,` $key_max `>`";
}

def Encoder_CacheAttr : Encoder_Encoding<"Cache", "cache"> {
  let summary = "storage of a state value with room for `max` rows";
  let description = [{
    `tile` 0: rows one after another. `tile` n: `[row / n][feature][row % n]`, so that n keys lie across the lanes of a
    vector; the storage is then rounded up to whole tiles. `window` 0: row n of the stream is row n of the storage, and
    all are kept. `window` w: a ring, in which row n lies at n modulo `max` and the last w rows count.
  }];
  let parameters = (ins "int64_t":$tile, "int64_t":$max, DefaultValuedParameter<"int64_t", "0">:$window);
  let assemblyFormat = "`<` $tile `,` $max (`,` $window^)? `>`";
}

/// f32 [rows, features]: rows are the time steps of all sequences, packed; or rows per sequence; or a fixed number.
def Encoder_Rows : RankedTensorOf<[F32]>;
/// i64 [rows, 1]: each row's position in its sequence.
def Encoder_Positions : RankedTensorOf<[I64]>;
/// i32 [rows, 1]: rows of a table, such as tokens of a vocabulary.
def Encoder_Ids : RankedTensorOf<[I32]>;
/// f32 [in, out], [out, in] or [features]: a parameter.
def Encoder_Weight : RankedTensorOf<[F32]>;
/// ui8 [queries, keys]: 1 where the query may see the key.
def Encoder_Mask : RankedTensorOf<[UI8]>;
/// Storage of a state value.
def Encoder_Storage : RankedTensorOf<[F32, F64]>;

/// An op that becomes (part of) a kernel. `kernel_class` names the family of schedules that serves it.
/// Its flops are 0 unless its room counts them.
class Encoder_Op<string opMnemonic, string kernel_class, list<Trait> traits, int panel_operand, bit is_view, bit counts_flops>
    : Op<Encoder_Dialect, opMnemonic, !listconcat(traits, [
        InferTypeOpAdaptor, DeclareOpInterfaceMethods<StreamableOpInterface>,
        DeclareOpInterfaceMethods<ReferenceOpInterface>, DeclareOpInterfaceMethods<KernelOpInterface>])> {
  code kernelFacts = "::burin::KernelClass $cppClass::getKernelClass() { return ::burin::KernelClass::" # kernel_class # "; }"
                     "int $cppClass::getPanelOperand() { return " # panel_operand # "; }"
                     "bool $cppClass::panelsAreOutIn() { return getOperation()->hasAttr(\"out_in\"); }"
                     "bool $cppClass::isView() { return " # is_view # "; }"
                     # !if(counts_flops, "", "double $cppClass::getFlops(::llvm::ArrayRef<double>) { return 0; }");
  code timewise = [{
    ::llvm::SmallVector<::burin::StreamRule> $cppClass::getStreamRules() {
      return ::llvm::SmallVector<::burin::StreamRule>(getOperation()->getNumOperands(), ::burin::StreamRule::pointwise());
    }
  }];
}

/// Row t of the result depends on row t of the operands alone; the streaming rule follows.
class Encoder_TimewiseOp<string opMnemonic, string kernel_class, list<Trait> traits = [Pure], int panel_operand = -1,
                           bit is_view = 0, bit counts_flops = 0>
    : Encoder_Op<opMnemonic, kernel_class, traits, panel_operand, is_view, counts_flops> {
  let extraClassDefinition = timewise # kernelFacts;
}

/// An op that looks along time: its room says how.
class Encoder_TemporalOp<string opMnemonic, string kernel_class, list<Trait> traits = [Pure], bit is_view = 0,
                         bit counts_flops = 0>
    : Encoder_Op<opMnemonic, kernel_class, traits, -1, is_view, counts_flops> {
  let extraClassDefinition = kernelFacts;
}

#endif
