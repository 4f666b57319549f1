// accumulate: the running form of a pool: combines the new row with the partial result of the rows before, keeps that,
// and gives what the pool gives on the rows so far. The partial result is kept in double, so that a stream of millions
// of samples does not drift from forward.

def AccumulateOp : Encoder_TemporalOp<"accumulate", "Pool", []> {
  let summary = "finish(combine(past, x)) for each row of x; writes the last combine(past, x) to the state";
  let description = [{
    `combine` is `add`, or `first`, which keeps the first x of the stream; `finish` is `divide_by_count`, which divides by
    the number of rows taken, this one included, or `none`; `count` is that number before the first row of x. It writes
    the state, so it is not pure.
  }];
  let arguments = (ins Encoder_Rows:$x, Encoder_Positions:$count, Encoder_Storage:$past, StrAttr:$combine, StrAttr:$finish);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = [{
    $x `,` $count `,` $past $combine $finish attr-dict `:` type($x) `,` type($count) `,` type($past)
  }];
}
