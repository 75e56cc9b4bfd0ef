#include "compiler/export/collective/emitter.h"

namespace dtranspile {

int Emitter::ringOf(mlir::Operation* op) const {
  for (const Ring& ring : rings_)
    if (mlir::FlatSymbolRefAttr::get(dist::CommOp(ring.comm).getSymNameAttr()) == dist::commOf(op))
      return ring.id;
  return -1;
}

mlir::Value Emitter::create(mlir::Location loc, llvm::StringRef type,
                            llvm::ArrayRef<pd::InputSlot> inputs, const std::string& name,
                            mlir::Type result, const Attributes& attributes, int role) {
  return declarations_
      .create(builder_, loc, type, inputs, {{"Out", {{name, result}}}}, attributes, role)
      .output("Out");
}

mlir::Value Emitter::inPlace(mlir::Location loc, llvm::StringRef type, mlir::Value value,
                             const Attributes& attributes, int role, bool keeps) {
  std::string name = dist::nameOf(value).str();
  if (keeps && value.getDefiningOp<pd::GetOp>()) name = freshName(name + ".reduced");
  return create(loc, type, {{"X", {value}}}, name, value.getType(), attributes, role);
}

mlir::Value Emitter::syncRing(mlir::Location loc, mlir::Value value, int ring, int role) {
  return inPlace(loc, "c_sync_comm_stream", value, {named("ring_id", ring)}, role);
}

mlir::Value Emitter::filled(mlir::Location loc, const std::string& name, mlir::Type type,
                            llvm::ArrayRef<int64_t> shape, DType dtype, float value) {
  return create(loc, "fill_constant", {}, name, type,
                {named("shape", builder_.getDenseI64ArrayAttr(shape)),
                 named("dtype", static_cast<int64_t>(dtype)),
                 named("value", builder_.getF32FloatAttr(value))},
                pd::kForward);
}

int roleOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  return op && pd::OpView::isFrameworkOp(op) ? pd::OpView(op).role() & ~pd::kLoss : pd::kForward;
}

mlir::LogicalResult drop(mlir::Operation* op) {
  op->dropAllUses();
  op->erase();
  return mlir::success();
}

}  // namespace dtranspile
