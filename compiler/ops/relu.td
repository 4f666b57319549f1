// relu: max(x, 0).

def ReluOp : Encoder_TimewiseOp<"relu", "Pointwise", [Pure]> {
  let summary = "max(x, 0), elementwise";
  let arguments = (ins Encoder_Rows:$x);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
