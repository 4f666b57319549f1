// How embedding is computed: a row of the table. The runtime refuses ids beyond it.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void EmbeddingOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row();
  Func ids = kernel.operand(0), table = kernel.operand(1); // [rows, 1], [vocabulary, features]
  Func y("embedding");
  // The clamp changes no valid id; it is what keeps any other from reading outside the table.
  y(feature, row) = table(feature, clamp(ids(0, row), 0, int(getIdLimit()) - 1));
  kernel.define(y);
}
