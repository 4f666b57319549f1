// l2_normalize: x / ‖x‖ over the features of a row. A row of zeros stays zero. A row shorter
// than 1e-15 counts as one of zeros: squares are summed in float, and below that some would be denormal.

def L2NormalizeOp : Encoder_TimewiseOp<"l2_normalize", "RowReduce"> {
  let summary = "scales each row to length 1; a row of zeros stays as it is";
  let arguments = (ins Encoder_Rows:$x);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
