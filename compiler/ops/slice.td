// slice: some neighbouring columns of x. A kernel that reads a slice reads columns of the whole: it never copies.

def SliceOp : Encoder_TimewiseOp<"slice", "Pointwise", [Pure], -1, /*is_view=*/1> {
  let summary = "columns [first, first + size) of x";
  let arguments = (ins Encoder_Rows:$x, I64Attr:$first, I64Attr:$size);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$x `[` $first `,` $size `]` attr-dict `:` type($x)";
  let hasFolder = 1;
}
