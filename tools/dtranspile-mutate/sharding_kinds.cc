// Parts of values: what is cut, summed in parts and put together, and what variables hold of it.
#include "dialects/dist/lookup.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// The own part of what this rank has, in place of that of the sum.
void notSummed(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::ReduceScatterOp>(view))
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      if (isStatic(operand) && static_cast<int64_t>(op.getDim()) == dist::kFlat)
        edits.add(op, quoted(operand) + " is cut and not summed",
                  [op, result = result, operand = operand]() mutable {
                    mlir::OpBuilder builder(op.getContext());
                    builder.setInsertionPointAfterValue(result);
                    const int64_t n =
                        llvm::cast<mlir::RankedTensorType>(operand.getType()).getNumElements();
                    dist::CommOp comm = dist::lookupComm(op, op.getCommAttr());
                    Readers readers(result);
                    readers.read(dist::SliceOp::create(
                        builder, op.getLoc(), result.getType(), operand,
                        builder.getI64IntegerAttr(dist::kFlat),
                        dist::LayoutAttr::even(op.getContext(), n), comm.getAxes()));
                  });
}

void otherOperation(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::ReduceScatterOp>(view))
    for (dist::Reduce reduce : {dist::Reduce::Max, dist::Reduce::Min})
      edits.add(op, "combines with " + dist::stringifyReduce(reduce).str(), [op, reduce]() mutable {
        op.setReduceAttr(dist::ReduceAttr::get(op.getContext(), reduce));
      });
}

// Summed over all replicas first, and then once more in parts.
void summedTwice(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::ReduceScatterOp>(view))
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      edits.add(op, quoted(op->getOperand(i)) + " is summed before", [op, i]() mutable {
        mlir::OpBuilder builder(op);
        op->setOperand(i,
                       reduced(builder, op->getOperand(i), dist::lookupComm(op, op.getCommAttr())));
      });
}

// The part of another value of the type.
void otherPart(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::SliceOp>(view))
    for (mlir::Operation& before : *op->getBlock()) {
      if (&before == op.getOperation()) break;
      for (mlir::Value value : before.getResults())
        if (value != op.getInput() && value.getType() == op.getInput().getType())
          edits.add(op, "cuts " + quoted(value) + " in place of " + quoted(op.getInput()),
                    [op, value]() mutable { op.getInputMutable().assign(value); });
    }
}

// Another rank's part: that along another axis of the same size.
void otherAxis(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::SliceOp>(view))
    for (mlir::Attribute axis : view.mesh.getAxes())
      if (op.getAxes().size() == 1 && axis != op.getAxes()[0] &&
          view.mesh.sizeOf(llvm::cast<mlir::StringAttr>(axis).getValue()) ==
              view.mesh.sizeOf(llvm::cast<mlir::StringAttr>(op.getAxes()[0]).getValue()))
        edits.add(op, "takes the part along another axis", [op, axis]() mutable {
          op.setAxesAttr(mlir::ArrayAttr::get(op.getContext(), axis));
        });
}

// A part that is put together, or set, is the one that was there before.
void stalePart(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::AllGatherOp>(view))
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      mlir::Operation* update = operand.get().getDefiningOp();
      if (!update || !pd::OpView::isFrameworkOp(update)) continue;
      for (mlir::Value before : update->getOperands())
        if (before.getType() == operand.get().getType())
          edits.add(op,
                    "puts " + quoted(before) + " together in place of what " +
                        update->getName().stripDialect().str() + " gives",
                    [at = &operand, before]() { at->set(before); });
    }
}

// Who reads a whole value reads another one of its type that was put together.
void otherWhole(JobView& view, Edits& edits) {
  std::vector<mlir::Value> wholes;
  for (auto op : opsIn<dist::AllGatherOp>(view))
    for (mlir::Value result : resultsOf(op)) wholes.push_back(result);
  for (size_t i = 0; i < wholes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (wholes[i].getType() == wholes[j].getType() &&
          wholes[i].getParentBlock() == wholes[j].getParentBlock()) {
        edits.add(wholes[i].getDefiningOp(), "another value is read in its place",
                  [a = wholes[i], b = wholes[j]]() mutable {
                    for (mlir::OpOperand& use : llvm::make_early_inc_range(a.getUses()))
                      if (b.getDefiningOp()->isBeforeInBlock(use.getOwner())) use.set(b);
                  });
        break;
      }
}

// The parts are of a tensor with more, or less, elements; a rank's own has as many as before.
void otherPad(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view)) {
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    if (!relation) continue;
    for (auto [i, one] : llvm::enumerate(relation.getAxes())) {
      if (one.getState() != dist::StateKind::Split || !one.getLayout()) continue;
      for (int64_t more : {1, -1})
        edits.add(
            var,
            "`" + var.getSymName().str() + "` has " + (more > 0 ? "one more" : "one less") +
                " element in its layout",
            [var, relation, i = i, one = one, more]() mutable {
              llvm::SmallVector<dist::AxisRelAttr> axes(relation.getAxes());
              axes[i] = dist::AxisRelAttr::split(
                  one.getAxis(), one.getDim(),
                  dist::LayoutAttr::even(var.getContext(), one.getLayout().getExtent() + more));
              var->setAttr(dist::kRelAttr, dist::RelAttr::of(relation.getVariable(), axes));
            });
    }
  }
}

}  // namespace

std::vector<Kind> shardingKinds() {
  const char* group = "sharding";
  return {
      {group, "scatter-to-slice", "a gradient is cut, and not summed", Place::Main, notSummed},
      {group, "scatter-operation", "max or min in place of the sum", Place::Main, otherOperation},
      {group, "scatter-doubled", "a gradient is summed twice", Place::Main, summedTwice},
      {group, "slice-of-other", "the part of another value", Place::Main, otherPart},
      {group, "slice-axis", "the part of another rank", Place::Main, otherAxis},
      {group, "gather-stale", "a parameter is put together of old parts", Place::Main, stalePart},
      {group, "gather-other", "another parameter is read", Place::Main, otherWhole},
      {group, "layout-extent", "a variable's parts are of another number of elements", Place::Main,
       otherPad},
      {group, "startup-slice-of-other", "a variable begins as the part of another one",
       Place::Startup, otherPart},
      {group, "startup-slice-axis", "a variable begins as the part of another rank", Place::Startup,
       otherAxis},
  };
}

}  // namespace dtranspile::mutate
