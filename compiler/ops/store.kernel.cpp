// How store is computed.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;

void StoreOp::buildKernel(KernelBuilder &kernel) { kernel.writeCache(2, kernel.operand(0), kernel.rows(0), 1); }
