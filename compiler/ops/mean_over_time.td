// mean_over_time: the mean of a sequence's rows, a row per sequence. The mean of no rows is 0, so that an empty sequence
// in a batch is harmless.

def MeanOverTimeOp : Encoder_TemporalOp<"mean_over_time", "Pool"> {
  let summary = "the mean of each sequence's rows";
  let arguments = (ins Encoder_Rows:$x);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
