// What layer_norm means, and which operands fit.
#include "dialect/encoder.h"
#include <cmath>

using namespace mlir;
using namespace burin;

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  if (!isRows(x))
    return refuse(location, "layer_norm: x has shape " + describe(x) + ", expected [rows, features]");
  for (auto [name, value] : {std::pair("gamma", adaptor.getGamma()), std::pair("beta", adaptor.getBeta())}) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() != 1 || type.getDimSize(0) != featuresOf(x))
      return refuse(location, Twine("layer_norm: ") + name + " has shape " + describe(type) + ", expected [" +
                                  Twine(featuresOf(x)) + "]");
  }
  double eps = adaptor.getEps().convertToDouble();
  if (!(eps > 0 && std::isfinite(eps)))
    return refuse(location, "layer_norm: eps is " + describe(eps) + ", expected a positive number");

  results.push_back(x);
  return success();
}

HostTensor LayerNormOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0], &gamma = operands[1], &beta = operands[2];
  HostTensor y(x.shape());
  int64_t features = x.features();
  for (int64_t row = 0; row < x.rows(); ++row) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < features; ++i)
      mean += x(row, i) / features;
    for (int64_t i = 0; i < features; ++i)
      variance += (x(row, i) - mean) * (x(row, i) - mean) / features;
    for (int64_t i = 0; i < features; ++i)
      y(row, i) = (x(row, i) - mean) / std::sqrt(variance + getEps().convertToDouble()) * gamma(i) + beta(i);
  }
  return y;
}
