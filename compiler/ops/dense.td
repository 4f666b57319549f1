// dense: y = x W + b, the contract of the dialect.
//
// The layout of W is an attribute and not a transposition in the graph: packing reads either order at no cost.
// `precision` is what W is packed as and the products are computed in (dialect/precision.h).
// Constraints: dense_c1 the weight's input size is x's width; dense_c2 the bias has one value per output;
// dense_c3 the precision is known.

def DenseOp : Encoder_TimewiseOp<"dense", "Contract", [Pure], /*panel_operand=*/1, /*is_view=*/0, /*counts_flops=*/1> {
  let summary = "x W + b, row by row";
  let description = [{W is [in, out], or [out, in] with `out_in`.}];
  let arguments = (ins Encoder_Rows:$x, Encoder_Weight:$weight, Optional<Encoder_Weight>:$bias,
                       UnitAttr:$out_in, OptionalAttr<StrAttr>:$precision);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = [{
    $x `,` $weight (`,` $bias^)? (`out_in` $out_in^)? attr-dict `:` type($x) `,` type($weight) (`,` type($bias)^)?
  }];
  let hasCanonicalizer = 1;
}
