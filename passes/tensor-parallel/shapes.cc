#include "compiler/analysis/relations/reshapes.h"
#include "passes/tensor-parallel/plan.h"

namespace dtranspile::passes {

// A number in the place of the heads is that of all heads, and a rank has a part of them. An entry
// 0 (the extent of X) or -1 (what is left) fits both.
mlir::Attribute openShape(pd::OpView view, llvm::ArrayRef<int64_t> from) {
  if ((view.type() != "reshape" && view.type() != "reshape2") || !view.input("X") ||
      view.input("Shape") || !view.inputs("ShapeTensor").empty() || !view.hasAttr("shape"))
    return {};
  const std::vector<int64_t> given = view.getInts("shape");
  std::vector<int64_t> shape = given;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t entry = std::exchange(shape[i], 0);
    if (i < from.size() && verify::makeSameShape(from, given, shape)) continue;
    shape[i] = llvm::is_contained(shape, -1) ? entry : -1;
    if (!verify::makeSameShape(from, given, shape)) shape[i] = entry;
    break;
  }
  if (shape == given) return {};
  const mlir::Attribute before = view.attr("shape");
  mlir::Builder builder(view.operation());
  mlir::Attribute now = builder.getDenseI64ArrayAttr(shape);
  if (llvm::isa<mlir::DenseI32ArrayAttr>(before))
    now = builder.getDenseI32ArrayAttr(llvm::SmallVector<int32_t>(shape.begin(), shape.end()));
  else if (!llvm::isa<mlir::DenseI64ArrayAttr>(before)) return {};
  view.setAttr("shape", now);
  return before;
}

}  // namespace dtranspile::passes
