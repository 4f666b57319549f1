// What sinusoidal_positions means, and how it sees time.
#include "dialect/encoder.h"
#include <cmath>

using namespace mlir;
using namespace burin;

LogicalResult SinusoidalPositionsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                      Adaptor adaptor, SmallVectorImpl<Type> &results) {
  int64_t features = adaptor.getFeatures();
  if (features < 2 || features % 2)
    return refuse(location, "sinusoidal_positions: d_model is " + Twine(features) +
                                ", expected an even number: sines and cosines come in pairs");
  auto positions = cast<RankedTensorType>(adaptor.getPositions().getType());
  results.push_back(
      RankedTensorType::get({positions.getDimSize(0), features}, Float32Type::get(context), positions.getEncoding()));
  return success();
}

SmallVector<StreamRule> SinusoidalPositionsOp::getStreamRules() { return {StreamRule::counter()}; }

HostTensor SinusoidalPositionsOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  HostTensor y({operands[0].rows(), int64_t(getFeatures())});
  for (int64_t row = 0; row < y.rows(); ++row)
    for (int64_t i = 0; i < y.features(); ++i) {
      double angle = operands[0](row, 0) / std::pow(10000.0, double(i - i % 2) / y.features());
      y(row, i) = i % 2 ? std::cos(angle) : std::sin(angle);
    }
  return y;
}
