// What dense means, which operands fit, and how siblings become one.
#include "dialect/encoder.h"
#include "dialect/int8.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace burin;

LogicalResult DenseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  Type x = adaptor.getX().getType();
  auto weight = cast<RankedTensorType>(adaptor.getWeight().getType());
  if (!isRows(x))
    return refuse(location, "dense: x has shape " + describe(x) + ", expected [rows, features]");
  if (weight.getRank() != 2)
    return refuse(location, "dense: the weight has " + Twine(weight.getRank()) + " dimensions, expected 2");
  bool outIn = adaptor.getOutIn();
  int64_t inputs = weight.getDimSize(outIn ? 1 : 0), outputs = weight.getDimSize(outIn ? 0 : 1);
  if (inputs != featuresOf(x)) // dense_c1
    return refuse(location, "dense: the weight takes " + Twine(inputs) + " inputs, but x has " + Twine(featuresOf(x)) +
                                " features");
  if (Value bias = adaptor.getBias()) {
    auto type = cast<RankedTensorType>(bias.getType());
    if (type.getRank() != 1 || type.getDimSize(0) != outputs) // dense_c2
      return refuse(location, "dense: the bias has shape " + describe(type) + ", expected [" + Twine(outputs) + "]");
  }
  StringAttr name = adaptor.getPrecisionAttr();
  if (DictionaryAttr parsed = adaptor.getAttributes(); !name && parsed) // where a parser has it until the op is made
    name = parsed.getAs<StringAttr>(attribute::precision);
  if (name) {
    auto precision = precisionNamed(name.getValue());
    if (!precision) // dense_c3
      return refuse(location,
                    "dense: precision '" + name.getValue() + "' is not known, expected " + listedPrecisions());
  }
  results.push_back(withFeatures(x, outputs));
  return success();
}

double DenseOp::getFlops(llvm::ArrayRef<double> rows) {
  return 2 * rows[0] * double(cast<ShapedType>(getWeight().getType()).getNumElements());
}

HostTensor DenseOp::evaluate(llvm::ArrayRef<HostTensor> operands) {
  Precision precision = precisionOf(*this);
  auto multiply = [&](const HostTensor &x, const HostTensor &weight) {
    if (precision == Precision::Int8)
      return multiplyInInt8(x, weight, getOutIn());
    int64_t inputs = x.features(), outputs = featuresOf(getType());
    // Element [in, out] of W lies at in · perIn + out · perOut.
    int64_t perIn = getOutIn() ? 1 : outputs, perOut = getOutIn() ? inputs : 1;
    HostTensor y({x.rows(), outputs});
    for (int64_t row = 0; row < x.rows(); ++row)
      for (int64_t out = 0; out < outputs; ++out)
        for (int64_t in = 0; in < inputs; ++in)
          y(row, out) += x(row * inputs + in) * weight(in * perIn + out * perOut);
    return y;
  };
  auto rounded = [](const HostTensor &values) {
    return values.map([](double value) { return roundToBFloat16(float(value)); });
  };
  bool roundsRows = precision == Precision::BFloat16Dot, rounds = roundsRows || precision == Precision::BFloat16;
  HostTensor y = multiply(roundsRows ? rounded(operands[0]) : operands[0], rounds ? rounded(operands[1]) : operands[1]);
  if (operands.size() > 2)
    for (int64_t row = 0; row < y.rows(); ++row)
      for (int64_t out = 0; out < y.features(); ++out)
        y(row, out) += operands[2](out);
  return y;
}

namespace {

/// Dense ops that share x, layout and whether they have a bias become one: its rows of x are read once and its panels
/// are long. The parts are slices of the result, which cost nothing: the kernels that read them read columns.
struct MergeSiblings : OpRewritePattern<DenseOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool merges(DenseOp op, DenseOp first) {
    return op && op->getBlock() == first->getBlock() && op.getOutIn() == first.getOutIn() &&
           op.getPrecisionAttr() == first.getPrecisionAttr() && bool(op.getBias()) == bool(first.getBias()) &&
           op.getWeight().getDefiningOp<ParameterOp>() && (!op.getBias() || op.getBias().getDefiningOp<ParameterOp>());
  }

  LogicalResult matchAndRewrite(DenseOp first, PatternRewriter &rewriter) const override {
    SmallVector<DenseOp> siblings;
    for (Operation *user : first.getX().getUsers())
      if (auto op = dyn_cast<DenseOp>(user); merges(op, first) && op.getX() == first.getX())
        siblings.push_back(op);
    if (siblings.size() < 2)
      return failure();
    llvm::sort(siblings, [](DenseOp a, DenseOp b) { return a->isBeforeInBlock(b); });
    if (siblings.front() != first)
      return failure();

    SmallVector<Value> weights, biases;
    SmallVector<Location> locations;
    for (DenseOp op : siblings) {
      weights.push_back(op.getWeight());
      locations.push_back(op.getLoc());
      if (op.getBias())
        biases.push_back(op.getBias());
    }
    for (Value value : llvm::concat<Value>(weights, biases)) // parameters have no operands: they may move up
      if (!value.getDefiningOp()->isBeforeInBlock(first))
        rewriter.moveOpBefore(value.getDefiningOp(), first);

    rewriter.setInsertionPoint(first);
    Location location = rewriter.getFusedLoc(locations);
    Value weight = ConcatenateOp::create(rewriter, location, weights, first.getOutIn() ? 0 : 1);
    Value bias = biases.empty() ? Value() : ConcatenateOp::create(rewriter, location, biases, 0).getResult();
    auto merged =
        DenseOp::create(rewriter, location, first.getX(), weight, bias, first.getOutIn(), first.getPrecisionAttr());
    if (Attribute scope = first->getAttr(attribute::scope))
      merged->setAttr(attribute::scope, scope);
    int64_t column = 0;
    for (DenseOp op : siblings) {
      int64_t features = featuresOf(op.getType());
      Value part = SliceOp::create(rewriter, op.getLoc(), merged, column, features);
      column += features;
      rewriter.replaceOp(op, part);
    }
    return success();
  }
};

} // namespace

void DenseOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeSiblings>(context);
}
