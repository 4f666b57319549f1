// state: a named value that a stream keeps between steps. Like a parameter it is a name for storage; only append and
// accumulate write it, once a step.

def StateOp : Op<Encoder_Dialect, "state", [Pure]> {
  let summary = "the storage of a state value";
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$offset);
  let results = (outs Encoder_Storage:$storage);
  let assemblyFormat = "$name (`at` $offset^)? attr-dict `:` type($storage)";
}
