// latents: the rows of a parameter as rows of the graph, the same in every sequence: queries that were trained with the
// model (Jaegle et al. 2021, arXiv:2103.03206, section 3.1).

def LatentsOp : Encoder_TimewiseOp<"latents", "Pointwise", [Pure], /*panel_operand=*/-1, /*is_view=*/1> {
  let summary = "a trained array as rows";
  let arguments = (ins Encoder_Weight:$table);
  let results = (outs Encoder_Rows:$rows);
  let assemblyFormat = "$table attr-dict `:` type($table)";
}
