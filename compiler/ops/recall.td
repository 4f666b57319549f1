// recall: all rows that a stream keeps, for an op that belongs to another stream. Made by derive_step for an operand that
// looks back along another axis than its own; it changes nothing.

def RecallOp : Encoder_TemporalOp<"recall", "Pointwise", [Pure], /*is_view=*/1> {
  let summary = "the rows that a state value keeps";
  let description = [{`count` is the number of rows that the stream has taken: row t of the result is row t of `past`.}];
  let arguments = (ins Encoder_Positions:$count, Encoder_Storage:$past);
  let results = (outs Encoder_Rows:$rows);
  let assemblyFormat = "$count `,` $past attr-dict `:` type($count) `,` type($past)";
}
