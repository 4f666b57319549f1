// append: all rows of a stream so far, the new one last. Made by derive_step for an operand that looks back.

def AppendOp : Encoder_TemporalOp<"append", "Pointwise", [], /*is_view=*/1> {
  let summary = "past rows and the new row; writes the new row to its place in the state";
  let description = [{
    Row t of the result is `past` row t for t < position and `row` for t = position; the result has position + 1 rows.
    It writes the state, so it is not pure.
  }];
  let arguments = (ins Encoder_Rows:$row, Encoder_Positions:$positions, Encoder_Storage:$past);
  let results = (outs Encoder_Rows:$rows);
  let assemblyFormat = "$row `,` $positions `,` $past attr-dict `:` type($row) `,` type($positions) `,` type($past)";
}
