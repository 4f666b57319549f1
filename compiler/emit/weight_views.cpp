#include "emit/weight_views.h"
#include "burin_plan.h"

using namespace mlir;

namespace burin {

Precision precisionOfArgument(func::FuncOp kernel, unsigned index) {
  auto name = kernel.getArgAttrOfType<StringAttr>(index, attribute::packedAs);
  return name ? *precisionNamed(name.getValue()) : Precision::Float32;
}

SmallVector<WeightView> weightViewsOf(func::FuncOp kernel) {
  SmallVector<WeightView> views{{Precision::Float32, BURIN_F32, 4}};
  for (const WeightView &view :
       {WeightView{Precision::BFloat16, BURIN_U16, 2}, WeightView{Precision::BFloat16Dot, BURIN_U16, 2},
        WeightView{Precision::Int8, BURIN_I8, 1}})
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (precisionOfArgument(kernel, i) == view.precision) {
        views.push_back(view);
        break;
      }
  return views;
}

} // namespace burin
