// How dense is computed: one accumulator per output, k in order, then the bias.
#include "dialect/encoder.h"
#include "emit/kernel_builder.h"

using namespace burin;
using namespace Halide;

void DenseOp::buildKernel(KernelBuilder &kernel) {
  Var feature = axis::feature(), row = axis::row(), lane = axis::lane(), panel = axis::panel();
  int64_t K = kernel.features(0), N = featuresOf(getY().getType()), width = kernel.panelWidth(1);
  Func x = kernel.operand(0);     // [rows, K]
  Func weight = kernel.panels(1); // [N / width][K][width]
  Func input("input"), accumulator("accumulator"), total("total"), y("dense");

  // accumulator = Σ_k x(row, k) W(k, column), column = panel · width + lane. Not strict: each step becomes one fused
  // multiply-add; with one accumulator per output there is nothing to reorder.
  input(feature, row) = x(feature, kernel.rowWithin(0, row));
  RDom k(0, int(K), "k");
  accumulator(lane, panel, row) = 0.0f;
  accumulator(lane, panel, row) += input(k, row) * weight(lane, k, panel);

  // + 0 makes −0 + 0 of a sum whose first step the compiler folded: the same zero on every schedule.
  total(lane, panel, row) = strict_float(accumulator(lane, panel, row) + 0.0f);

  Expr sum = total(feature % int(width), feature / int(width), row);
  y(feature, row) = kernel.hasOperand(2) ? strict_float(sum + kernel.operand(2)(feature)) : sum;

  kernel.contract({input, accumulator, total, K, N, width});
  kernel.define(y);
}
