// What a parameter is called in text: by its own name, so that a graph of a hundred of them can be read.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

void ParameterOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getValue(), getName()); }
