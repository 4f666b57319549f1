// concatenate: parameters side by side, so that several weights become one contract (Q, K and V). It costs nothing at
// run time: the packer writes each parameter to its columns of the packed panels.

def ConcatenateOp : Op<Encoder_Dialect, "concatenate", [Pure, InferTypeOpAdaptor,
                                                        DeclareOpInterfaceMethods<ReferenceOpInterface>]> {
  let summary = "parameters joined along `axis`";
  let arguments = (ins Variadic<Encoder_Weight>:$parts, I64Attr:$axis);
  let results = (outs Encoder_Weight:$value);
  let assemblyFormat = "$parts `axis` $axis attr-dict `:` type($parts)";
}
