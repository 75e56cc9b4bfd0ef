// Constraints of ops without communication: parts of a value, coordinates, copies (labels of
// docs/dialects/dist.md).
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/verify.h"
#include "dialects/pd/types.h"

namespace dtranspile::dist {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::SymbolTableCollection;

// D9, D25: axes stand in the order of the mesh, since that is the order of the parts; the layout is
// of the extent that is cut; even parts have a known type, those of other layouts one that depends
// on the rank.
LogicalResult SliceOp::verifySymbolUses(SymbolTableCollection& tables) {
  MeshOp mesh = meshOf(*this, &tables);
  int64_t size = 1;
  std::optional<unsigned> last;
  for (llvm::StringRef axis : getAxes().getAsValueRange<mlir::StringAttr>()) {
    std::optional<unsigned> index = mesh ? mesh.indexOf(axis) : std::nullopt;
    if (!index) return emitOpError("D9: '") << axis << "' is no rank axis here";
    if (last && *index <= *last)
      return emitOpError("D9: axis '") << axis << "' is out of the mesh's order or named twice";
    last = index;
    size *= mesh.getSizes()[*index];
  }
  mlir::RankedTensorType whole = pd::tensorOf(getInput().getType());
  if (!whole || static_cast<int64_t>(getDim()) < kFlat ||
      static_cast<int64_t>(getDim()) >= whole.getRank())
    return emitOpError("D25: cannot cut ")
           << getInput().getType() << " along dim " << static_cast<int64_t>(getDim());
  int64_t dim = getDim();
  int64_t extent = dim != kFlat             ? whole.getDimSize(dim)
                   : whole.hasStaticShape() ? whole.getNumElements()
                                            : mlir::ShapedType::kDynamic;
  if (mlir::ShapedType::isDynamic(extent) || extent != getLayout().getExtent())
    return emitOpError("D25: the layout is of an extent of ")
           << getLayout().getExtent() << ", the operand is " << getInput().getType();
  if (getLayout().getKind() == LayoutKind::Even)
    return verifyPart(*this, getInput().getType(), getOutput().getType(), dim, size);
  mlir::RankedTensorType part = pd::tensorOf(getOutput().getType());
  if (part && part.getElementType() == whole.getElementType()) return mlir::success();
  return emitOpError("D25: part and whole have different element types");
}

LogicalResult CoordOp::verify() {
  auto type = mlir::RankedTensorType::get({1}, mlir::IntegerType::get(getContext(), 64));
  return getOutput().getType() == type ? mlir::success()
                                       : LogicalResult(emitOpError("D9: a coordinate is ") << type);
}
LogicalResult CoordOp::verifySymbolUses(SymbolTableCollection& tables) {
  MeshOp mesh = meshOf(*this, &tables);
  if (mesh && mesh.indexOf(getAxis())) return mlir::success();
  return emitOpError("D9: '") << getAxis() << "' is no rank axis here";
}

LogicalResult CopyOp::verify() {
  return mlir::failed(verifyPending(*this)) ? mlir::failure() : verifySameTypes(*this);
}

}  // namespace dtranspile::dist
