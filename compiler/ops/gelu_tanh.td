// gelu_tanh: gelu with Φ approximated by tanh (Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2), which models
// call gelu_new. Another op than gelu, because the two differ by up to 4.7e-4.

def GeluTanhOp : Encoder_TimewiseOp<"gelu_tanh", "Pointwise", [Pure]> {
  let summary = "x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, elementwise";
  let arguments = (ins Encoder_Rows:$x);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
