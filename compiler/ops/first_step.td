// first_step: the first of a sequence's rows, a row per sequence: where encoders with a class token keep what they say
// of the whole. Of no rows it is 0, so that an empty sequence in a batch is harmless.

def FirstStepOp : Encoder_TemporalOp<"first_step", "Pool"> {
  let summary = "the first of each sequence's rows";
  let arguments = (ins Encoder_Rows:$x);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
