// gated_add: a gate whose region has become the ops before it. A select, never a product: a closed row is x bit for bit,
// and the update, which may not have been computed, is not read into it.

def GatedAddOp : Encoder_TimewiseOp<"gated_add", "Pointwise", [Pure, DeclareOpInterfaceMethods<GuardedOpInterface>]> {
  let summary = "x + update where signal > threshold, else x";
  let arguments = (ins Encoder_Rows:$x, Encoder_Rows:$signal, Encoder_Rows:$update, F64Attr:$threshold);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = [{
    $x `,` $signal `above` $threshold `,` $update attr-dict `:` type($x) `,` type($signal) `,` type($update)
  }];
}
