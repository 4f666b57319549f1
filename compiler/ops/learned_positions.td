// learned_positions: row t of a table that was trained with the model. It ends: a time above the table's rows is an
// error when the graph is compiled, and a step past them is one when it runs.

def LearnedPositionsOp : Encoder_TemporalOp<"learned_positions", "Pointwise"> {
  let summary = "the table's row at each position";
  let arguments = (ins Encoder_Positions:$positions, Encoder_Weight:$table);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$positions `,` $table attr-dict `:` type($positions) `,` type($table)";
}
