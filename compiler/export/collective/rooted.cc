#include "compiler/export/collective/rooted.h"

#include <optional>

#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

// Rank of the root in the ring: its coordinates on the comm's axes, the last one fastest. Nothing
// after a message.
std::optional<int64_t> rootOf(Emitter& emitter, mlir::Operation* op, dist::SelAttr root) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  if (comm.getSubset()) {
    op->emitError("export: operations with a root in a part of an axis have no translation yet");
    return std::nullopt;
  }
  int64_t rank = 0;
  for (llvm::StringRef axis : comm.getAxes().getAsValueRange<mlir::StringAttr>())
    rank = rank * *emitter.mesh().sizeOf(axis) + root.lookup(axis).getBounds()[0];
  return rank;
}

// What a rank that does not hold the value gives to a broadcast: memory of the right size.
mlir::Value allocated(Emitter& emitter, mlir::Value value) {
  auto nothing = value.getDefiningOp<pd::UndefOp>();
  mlir::RankedTensorType tensor =
      nothing ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
  if (!tensor || !tensor.hasStaticShape()) return value;
  return emitter.filled(value.getLoc(), dist::nameOf(value).str(), value.getType(),
                        tensor.getShape(), *pd::dtypeOf(tensor.getElementType()), 0);
}

}  // namespace

mlir::LogicalResult exportReduce(Emitter& emitter, dist::ReduceOp op, int ring) {
  if (llvm::isa<dist::PendingType>(op->getResult(0).getType()))
    return op.emitError("export: started reductions to a rank have no translation yet");
  if (op.getReduce() == dist::Reduce::Or)
    return op.emitError("export: the framework has no boolean reduction");
  std::optional<int64_t> root = rootOf(emitter, op, op.getRoot());
  if (!root) return mlir::failure();
  for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults()))
    result.replaceAllUsesWith(emitter.inPlace(
        op.getLoc(), ("c_reduce_" + dist::stringifyReduce(op.getReduce())).str(), value,
        {emitter.named("ring_id", ring), emitter.named("root_id", *root),
         emitter.flag("use_calc_stream", true)},
        roleOf(value), /*keeps=*/true));
  return drop(op);
}

// All values of the op go out on the stream of communication, which is waited for once.
mlir::LogicalResult exportBroadcast(Emitter& emitter, dist::BroadcastOp op, int ring) {
  if (llvm::isa<dist::PendingType>(op->getResult(0).getType()))
    return op.emitError("export: started broadcasts have no translation yet");
  std::optional<int64_t> root = rootOf(emitter, op, op.getRoot());
  if (!root) return mlir::failure();
  mlir::Value last;
  for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults())) {
    last = emitter.inPlace(op.getLoc(), "c_broadcast", allocated(emitter, value),
                           {emitter.named("ring_id", ring), emitter.named("root", *root),
                            emitter.flag("use_calc_stream", false)},
                           pd::kForward);
    result.replaceAllUsesWith(last);
  }
  emitter.syncRing(op.getLoc(), last, ring, pd::kForward);
  return drop(op);
}

}  // namespace dtranspile
