// gelu: x Φ(x), Φ the normal distribution's, by erf (Hendrycks and Gimpel 2016, arXiv:1606.08415). The form by tanh
// differs by up to 4.7e-4 and is an op of its own, gelu_tanh: a model was trained with one of the two.

def GeluOp : Encoder_TimewiseOp<"gelu", "Pointwise", [Pure]> {
  let summary = "x (1 + erf(x / sqrt(2))) / 2, elementwise";
  let arguments = (ins Encoder_Rows:$x);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
