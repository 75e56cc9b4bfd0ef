#include "compiler/export/collective/rank_data.h"

namespace dtranspile {

mlir::LogicalResult exportCoord(Emitter& emitter, dist::CoordOp op) {
  dist::MeshOp mesh = emitter.mesh();
  const int64_t at = mesh.coordinatesOf(emitter.rank())[*mesh.indexOf(op.getAxis())];
  const std::string name = emitter.freshName(("coordinate_" + op.getAxis()).str());
  op.replaceAllUsesWith(emitter.filled(op.getLoc(), name, op.getOutput().getType(), {1},
                                       DType::kInt64, static_cast<float>(at)));
  return drop(op);
}

// The rank's part of an even cut: its coordinates along the axes as digits, the first one major.
mlir::LogicalResult exportSlice(Emitter& emitter, dist::SliceOp op) {
  dist::MeshOp mesh = emitter.mesh();
  mlir::Value whole = op.getInput();
  const auto dim = static_cast<int64_t>(op.getDim());
  int64_t parts = 1, part = 0;
  for (llvm::StringRef axis : op.getAxes().getAsValueRange<mlir::StringAttr>()) {
    const unsigned index = *mesh.indexOf(axis);
    parts *= mesh.getSizes()[index];
    part = part * mesh.getSizes()[index] + mesh.coordinatesOf(emitter.rank())[index];
  }
  const int64_t extent = op.getLayout().getExtent();
  if (dim == dist::kFlat || op.getLayout().getKind() != dist::LayoutKind::Even || extent % parts)
    return op.emitError(
        "export: parts of the flattened tensor, padded parts and blocks have no translation yet");
  const auto ints = [&](int64_t value) {
    return emitter.builder().getDenseI32ArrayAttr({static_cast<int32_t>(value)});
  };
  op.replaceAllUsesWith(emitter.create(
      op.getLoc(), "slice", {{"Input", {whole}}},
      emitter.freshName(dist::nameOf(whole).str() + ".part"), op.getOutput().getType(),
      {emitter.named("axes", ints(dim)), emitter.named("starts", ints(part * (extent / parts))),
       emitter.named("ends", ints((part + 1) * (extent / parts)))},
      roleOf(whole)));
  return drop(op);
}

}  // namespace dtranspile
