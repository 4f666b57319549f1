// embedding: the table's row of each id. Ids are inputs of the graph; the runtime refuses one that is negative or not in
// the table before any kernel runs, so that no kernel has to.

def EmbeddingOp : Encoder_TimewiseOp<"embedding", "Pointwise", [Pure, DeclareOpInterfaceMethods<LookupOpInterface>]> {
  let summary = "the table's row of each id";
  let arguments = (ins Encoder_Ids:$ids, Encoder_Weight:$table);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($ids) `,` type($table)";
}
