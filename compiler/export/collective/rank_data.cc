// Operations with a root, sends and receives, and what differs from rank to rank: literals in the
// program of one.
#include "compiler/export/collective/exporter.h"

namespace dtranspile {

mlir::LogicalResult Exporter::exportCoord(dist::CoordOp op) {
  const int64_t at = mesh_.coordinatesOf(rank_)[*mesh_.indexOf(op.getAxis())];
  std::string name = declarations_.freshName(op->getBlock(), ("coordinate_" + op.getAxis()).str());
  op.replaceAllUsesWith(
      declarations_
          .create(builder_, op.getLoc(), "fill_constant", {},
                  {{"Out", {{name, op.getOutput().getType()}}}},
                  {named("shape", builder_.getDenseI64ArrayAttr({1})),
                   named("dtype", number(static_cast<int64_t>(DType::kInt64))),
                   named("value", builder_.getF32FloatAttr(static_cast<float>(at)))},
                  pd::kForward)
          .output("Out"));
  return drop(op);
}

mlir::LogicalResult Exporter::exportSlice(dist::SliceOp op) {
  mlir::Value whole = op.getInput();
  const auto dim = static_cast<int64_t>(op.getDim());
  int64_t parts = 1, part = 0;
  for (llvm::StringRef axis : op.getAxes().getAsValueRange<mlir::StringAttr>()) {
    const unsigned index = *mesh_.indexOf(axis);
    parts *= mesh_.getSizes()[index];
    part = part * mesh_.getSizes()[index] + mesh_.coordinatesOf(rank_)[index];
  }
  const int64_t extent = op.getLayout().getExtent();
  if (dim == dist::kFlat || op.getLayout().getKind() != dist::LayoutKind::Even || extent % parts)
    return op.emitError(
        "export: parts of the flattened tensor, padded parts and blocks have no translation yet");
  const auto begin = static_cast<int32_t>(part * (extent / parts)),
             end = static_cast<int32_t>((part + 1) * (extent / parts));
  std::string name = declarations_.freshName(op->getBlock(), dist::nameOf(whole).str() + ".part");
  const auto ints = [&](int32_t value) { return builder_.getDenseI32ArrayAttr({value}); };
  op.replaceAllUsesWith(declarations_
                            .create(builder_, op.getLoc(), "slice", {{"Input", {whole}}},
                                    {{"Out", {{name, op.getOutput().getType()}}}},
                                    {named("axes", ints(static_cast<int32_t>(dim))),
                                     named("starts", ints(begin)), named("ends", ints(end))},
                                    roleOf(whole))
                            .output("Out"));
  return drop(op);
}

std::optional<int64_t> Exporter::rootOf(mlir::Operation* op, dist::CommOp comm,
                                        dist::SelAttr root) {
  if (comm.getSubset()) {
    op->emitError("export: operations with a root in a part of an axis have no translation yet");
    return std::nullopt;
  }
  int64_t rank = 0;
  for (llvm::StringRef axis : comm.getAxes().getAsValueRange<mlir::StringAttr>())
    rank = rank * *mesh_.sizeOf(axis) + root.lookup(axis).getBounds()[0];
  return rank;
}

mlir::Value Exporter::allocated(mlir::Value value) {
  auto nothing = value.getDefiningOp<pd::UndefOp>();
  mlir::RankedTensorType tensor =
      nothing ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
  if (!tensor || !tensor.hasStaticShape()) return value;
  const int64_t dtype = static_cast<int64_t>(*pd::dtypeOf(tensor.getElementType()));
  return declarations_
      .create(builder_, value.getLoc(), "fill_constant", {},
              {{"Out", {{dist::nameOf(value).str(), value.getType()}}}},
              {named("shape", builder_.getDenseI64ArrayAttr(tensor.getShape())),
               named("dtype", number(dtype)), named("value", builder_.getF32FloatAttr(0))},
              pd::kForward)
      .output("Out");
}

mlir::LogicalResult Exporter::exportReduce(dist::ReduceOp op) {
  if (llvm::isa<dist::PendingType>(op->getResult(0).getType()))
    return op.emitError("export: started reductions to a rank have no translation yet");
  if (op.getReduce() == dist::Reduce::Or)
    return op.emitError("export: the framework has no boolean reduction");
  std::optional<int64_t> root = rootOf(op, dist::lookupComm(op, op.getCommAttr()), op.getRoot());
  if (!root) return mlir::failure();
  for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults()))
    result.replaceAllUsesWith(
        inPlace(op.getLoc(), ("c_reduce_" + dist::stringifyReduce(op.getReduce())).str(), value,
                {named("ring_id", number(ring_)), named("root_id", number(*root)),
                 named("use_calc_stream", builder_.getBoolAttr(true))},
                roleOf(value), /*keeps=*/true));
  return drop(op);
}

mlir::LogicalResult Exporter::exportSend(dist::SendOp op) {
  if (mlir::failed(wires_.check(op))) return mlir::failure();
  wires_.send(builder_, declarations_, op, roleOf(op.getInput()));
  return drop(op);
}

mlir::LogicalResult Exporter::exportRecv(dist::RecvOp op) {
  if (mlir::failed(wires_.check(op))) return mlir::failure();
  op.getOutput().replaceAllUsesWith(wires_.receive(builder_, declarations_, op, pd::kForward));
  return drop(op);
}

mlir::LogicalResult Exporter::exportBroadcast(dist::BroadcastOp op) {
  if (llvm::isa<dist::PendingType>(op->getResult(0).getType()))
    return op.emitError("export: started broadcasts have no translation yet");
  std::optional<int64_t> root = rootOf(op, dist::lookupComm(op, op.getCommAttr()), op.getRoot());
  if (!root) return mlir::failure();
  mlir::Value last;
  for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults())) {
    last = inPlace(op.getLoc(), "c_broadcast", allocated(value),
                   {named("ring_id", number(ring_)), named("root", number(*root)),
                    named("use_calc_stream", builder_.getBoolAttr(false))},
                   pd::kForward);
    result.replaceAllUsesWith(last);
  }
  declarations_.create(builder_, op.getLoc(), "c_sync_comm_stream", {{"X", {last}}},
                       {{"Out", {{dist::nameOf(last).str(), last.getType()}}}},
                       {named("ring_id", number(ring_))}, pd::kForward);
  return drop(op);
}

}  // namespace dtranspile
