// dropout: drops nothing, because Burin compiles inference. It stands in a graph so that a model is declared as it was
// trained and a probability out of range is found; it folds away before any kernel is formed.

def DropoutOp : Op<Encoder_Dialect, "dropout", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<StreamableOpInterface>, DeclareOpInterfaceMethods<ReferenceOpInterface>]> {
  let summary = "identity at inference; 0 <= p < 1 is checked";
  let arguments = (ins Encoder_Rows:$x, F64Attr:$p);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x `,` $p attr-dict `:` type($x)";
  let hasFolder = 1;
}
