// gate: x where a row's signal is closed, x + update where it is open; the update is what the region yields.
//
// The region says what need not be computed where every row is closed. It is how a gate is declared; `inline_gates`
// turns it into a gated_add of the region's ops, and form_kernels makes those a range that the driver skips.

def GateOp : Op<Encoder_Dialect, "gate", [
    InferTypeOpAdaptor, SingleBlock, NoRegionArguments, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<ReferenceOpInterface>]> {
  let summary = "x + update where signal > threshold, else x";
  let description = [{
    `signal` is [rows of x, 1]; it and the threshold are compared as float32. A closed row is x bit for bit, whatever the region would give; a signal that is not a
    number is closed. The region reads what it likes of the graph around it and yields rows like x.
  }];
  let arguments = (ins Encoder_Rows:$x, Encoder_Rows:$signal, F64Attr:$threshold);
  let results = (outs Encoder_Rows:$y);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$x `,` $signal `above` $threshold custom<GateBody>($body) attr-dict `:` type($x) `,` type($signal)";
  let hasVerifier = 1;
}

def YieldOp : Op<Encoder_Dialect, "yield", [Pure, Terminator, HasParent<"GateOp">]> {
  let summary = "what a gate adds where it is open";
  let arguments = (ins Encoder_Rows:$update);
  let assemblyFormat = "$update attr-dict `:` type($update)";
}
