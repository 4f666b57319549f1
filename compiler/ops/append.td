// append: all rows of a stream so far, the new one last. Made by derive_step for an operand that looks back.

def AppendOp : Encoder_TemporalOp<"append", "Pointwise", [], /*is_view=*/1> {
  let summary = "past rows and the new rows; writes the new rows to their places in the state";
  let description = [{
    `count` is the number of rows that the stream has taken. The result is its rows, of which `row` holds the last ones:
    all of them, or, from a ring, those from a multiple of the ring's tile on that no row's window reaches behind. It
    writes the state, so it is not pure.
  }];
  let arguments = (ins Encoder_Rows:$row, Encoder_Positions:$count, Encoder_Storage:$past);
  let results = (outs Encoder_Rows:$rows);
  let assemblyFormat = "$row `,` $count `,` $past attr-dict `:` type($row) `,` type($count) `,` type($past)";
}
