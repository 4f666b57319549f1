// accumulate: the running form of a pool: combines the new row with the partial result of the rows before, keeps that,
// and gives what the pool gives on the rows so far. The partial result is kept in double, so that a stream of millions
// of samples does not drift from forward.

def AccumulateOp : Encoder_TemporalOp<"accumulate", "Pool", []> {
  let summary = "finish(combine(past, x)); writes combine(past, x) to the state";
  let description = [{
    `combine` is `add`, or `first`, which keeps the x of position 0; `finish` is `divide_by_count`, which divides by
    position + 1, or `none`. It writes the state, so it is not pure.
  }];
  let arguments = (ins Encoder_Rows:$x, Encoder_Positions:$positions, Encoder_Storage:$past, StrAttr:$combine, StrAttr:$finish);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = [{
    $x `,` $positions `,` $past $combine $finish attr-dict `:` type($x) `,` type($positions) `,` type($past)
  }];
}
