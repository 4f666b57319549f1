// layer_norm: (x − mean) / sqrt(variance + eps) · γ + β over the features of a row (Ba, Kiros and Hinton 2016,
// arXiv:1607.06450).
//
// The variance is the mean of squared differences, in a second pass over the row: the one-pass form E[x²] − E[x]²
// loses every digit for rows such as 40000, 40001, 40002, 40003. eps has no default in the dialect: a model's own
// value must never be lost to another's.

def LayerNormOp : Encoder_TimewiseOp<"layer_norm", "RowReduce"> {
  let summary = "normalises each row to mean 0 and variance 1, then scales and shifts it";
  let arguments = (ins Encoder_Rows:$x, Encoder_Weight:$gamma, Encoder_Weight:$beta, F64Attr:$eps);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x `,` $gamma `,` $beta `,` $eps attr-dict `:` type($x) `,` type($gamma) `,` type($beta)";
}
