// parameter: a named weight of the model. Values come when the model is opened; the graph only knows shape and name.

def ParameterOp : Op<Encoder_Dialect, "parameter", [
    Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a named weight";
  let description = [{
    `init` says how `burin init` fills it: `normal` (N(0, 1/fan_in), the first dimension is fan_in), `zeros`, `ones`,
    or `positions` (N(0, 0.02)).
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$init);
  let results = (outs Encoder_Weight:$value);
  let assemblyFormat = "$name `init` $init attr-dict `:` type($value)";
}
