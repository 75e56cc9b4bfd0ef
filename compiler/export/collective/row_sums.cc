#include "compiler/export/collective/row_sums.h"

#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

// All ranks' values, one after the other along dim 0, in rank order.
mlir::Value gathered(Emitter& emitter, mlir::Location loc, mlir::Value value, int ringId) {
  const Ring& ring =
      *llvm::find_if(emitter.rings(), [&](const Ring& one) { return one.id == ringId; });
  const auto ranks =
      static_cast<int64_t>(groupOf(ring.comm, emitter.mesh(), emitter.rank()).size());
  mlir::RankedTensorType tensor = pd::tensorOf(value.getType());
  llvm::SmallVector<int64_t> dims(tensor.getShape());
  if (!dims.empty() && dims[0] != mlir::ShapedType::kDynamic) dims[0] *= ranks;
  return emitter.create(loc, "c_allgather", {{"X", {value}}},
                        emitter.freshName((pd::nameOf(value) + ".gathered").str()),
                        mlir::RankedTensorType::get(dims, tensor.getElementType()),
                        {emitter.named("nranks", ranks), emitter.named("ring_id", ringId),
                         emitter.flag("use_calc_stream", true)},
                        pd::kBackward);
}

// The gradients of lookup_table that the value is a sum of, through any number of `sum` ops.
mlir::LogicalResult gatherTerms(Emitter& emitter, mlir::Operation* sum, mlir::Value value,
                                int ring) {
  mlir::Operation* maker = value.getDefiningOp();
  llvm::StringRef type = maker && pd::OpView::isFrameworkOp(maker) ? pd::OpView(maker).type() : "";
  const bool embedding = type == "lookup_table_grad" || type == "lookup_table_v2_grad";
  if (!value.hasOneUse() || !llvm::isa<pd::RowsType>(value.getType()) ||
      !(embedding || type == "sum"))
    return sum->emitError("export: the SelectedRows gradient '")
           << dist::nameOf(value)
           << "' is no sum of gradients of lookup_table alone; train this program natively, or "
              "with is_sparse = false";
  pd::OpView view(maker);
  if (!embedding) {
    for (mlir::Value term : view.inputs("X"))
      if (mlir::failed(gatherTerms(emitter, sum, term, ring))) return mlir::failure();
    return mlir::success();
  }
  mlir::OpBuilder::InsertionGuard guard(emitter.builder());
  emitter.builder().setInsertionPoint(maker);
  for (llvm::StringRef slot : {"Ids", "Out@GRAD"})
    view.setInput(slot, 0, gathered(emitter, maker->getLoc(), view.input(slot), ring));
  return mlir::success();
}

}  // namespace

mlir::LogicalResult gatherRows(Emitter& emitter, dist::AllReduceOp op, int ring) {
  for (mlir::Value value : op.getInputs())
    if (mlir::failed(gatherTerms(emitter, op, value, ring))) return mlir::failure();
  return mlir::success();
}

}  // namespace dtranspile
