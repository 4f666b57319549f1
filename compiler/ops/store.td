// store: writes rows to their places in a state value, for ops of another stream to recall. Made by derive_step.

def StoreOp : Op<Encoder_Dialect, "store", [
    InferTypeOpAdaptor, DeclareOpInterfaceMethods<KernelOpInterface>]> {
  let summary = "writes rows to the state";
  let description = [{Row i of `rows` is row `count` + i of `past`.}];
  let arguments = (ins Encoder_Rows:$rows, Encoder_Positions:$count, Encoder_Storage:$past);
  let assemblyFormat = "$rows `,` $count `,` $past attr-dict `:` type($rows) `,` type($count) `,` type($past)";
  let extraClassDefinition = [{
    ::burin::KernelClass $cppClass::getKernelClass() { return ::burin::KernelClass::Pointwise; }
    int $cppClass::getPanelOperand() { return -1; }
    bool $cppClass::panelsAreOutIn() { return false; }
    bool $cppClass::isView() { return false; }
    double $cppClass::getFlops(::llvm::ArrayRef<double>) { return 0; }
  }];
}
