// add_row: x plus one row of a table, the same for every row of x: what an embedding of a segment, or of a token type,
// is where all tokens have the same.

def AddRowOp : Encoder_TimewiseOp<"add_row", "Pointwise", [Pure]> {
  let summary = "x + table[row], to every row of x";
  let arguments = (ins Encoder_Rows:$x, Encoder_Weight:$table, I64Attr:$row);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x `,` $table `[` $row `]` attr-dict `:` type($x) `,` type($table)";
}
