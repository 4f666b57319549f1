// Which operands store takes.
#include "dialect/encoder.h"

using namespace mlir;
using namespace burin;

LogicalResult StoreOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &) {
  auto past = cast<RankedTensorType>(adaptor.getPast().getType());
  if (!dyn_cast_or_null<CacheAttr>(past.getEncoding()) ||
      featuresOf(adaptor.getRows().getType()) != past.getShape().back())
    return refuse(location, "store: the state has shape " + describe(past) + ", expected a cache of rows like " +
                                describe(adaptor.getRows().getType()));
  return success();
}
