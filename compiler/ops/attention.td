// attention: softmax(scale · q kᵀ) v, head by head (Vaswani et al. 2017, arXiv:1706.03762, equation 1).
//
// What a query sees is the AND of what it is told: causal, a window, a boolean mask. A query that sees no key has output
// 0, as in PyTorch, the ONNX specification and flash kernels. Causal and window count from the end: the last query is at
// the last key, so one query against a longer cache sees all of it.
// Constraints: attention_c1 q and k have equal widths; attention_c2 k and v have equal rows; attention_c3 the heads
// divide both widths; attention_c4 the mask's axes are q's and k's.

def AttentionOp : Encoder_TemporalOp<"attention", "Attend", [Pure], /*is_view=*/0, /*counts_flops=*/1> {
  let summary = "scaled dot-product attention with `heads` heads";
  let description = [{
    Head h reads features [h·d/heads, (h+1)·d/heads) of q, k and v. `scale` is finite; 1/√(d/heads) is usual. Query row i
    of t_q is at key t_k − t_q + i: with `causal` it sees no key behind that, with `window` w none before the last w
    that end there. Queries of a fixed number of rows (latents) are the same in every sequence.
  }];
  let arguments = (ins Encoder_Rows:$q, Encoder_Rows:$k, Encoder_Rows:$v, Optional<Encoder_Mask>:$mask, I64Attr:$heads,
                       F64Attr:$scale, BoolAttr:$causal, OptionalAttr<I64Attr>:$window);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`,` `mask` $mask^)? `heads` $heads `scale` $scale `causal` $causal (`window` $window^)? attr-dict
    `:` type($q) `,` type($k) `,` type($v) (`,` type($mask)^)?
  }];
}
