// add: the residual connection, and positions.

def AddOp : Encoder_TimewiseOp<"add", "Pointwise", [Pure, Commutative]> {
  let summary = "a + b, elementwise";
  let arguments = (ins Encoder_Rows:$a, Encoder_Rows:$b);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
}
