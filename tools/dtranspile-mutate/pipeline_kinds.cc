// Pipelines: what travels between stages, what is kept from task to task, what is summed over the
// micro-batches.
#include "dialects/dist/lookup.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Another value of the same type that the same block has before the transfer.
void otherTransferred(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::TransferOp>(view))
    for (mlir::Operation& before : *op->getBlock()) {
      if (&before == op.getOperation()) break;
      for (mlir::Value value : before.getResults())
        if (value != op.getInput() && value.getType() == op.getInput().getType())
          edits.add(op, "hands over another value",
                    [op, value]() mutable { op.getInputMutable().assign(value); });
    }
}

void otherChannel(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::TransferOp>(view))
    for (auto comm : view.job.getOps<dist::CommOp>())
      if (comm.getKind() == dist::CommKind::Pairs && comm.getSymName() != op.getComm())
        edits.add(op, "on @" + comm.getSymName().str(), [op, comm]() mutable {
          op.setCommAttr(mlir::FlatSymbolRefAttr::get(comm.getSymNameAttr()));
        });
}

dist::YieldOp yieldOf(dist::MicroOp op) {
  return llvm::cast<dist::YieldOp>(op.getBody().front().getTerminator());
}

void notSummed(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::MicroOp>(view))
    for (unsigned i = 0; i < op.getInits().size(); ++i)
      edits.add(op, "value " + std::to_string(i) + " stays as it was",
                [op, i]() mutable { yieldOf(op)->setOperand(i, op.getBody().getArgument(i)); });
}

void sumsSwapped(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::MicroOp>(view))
    for (unsigned i = 0; i < op.getOutputs().size(); ++i)
      for (unsigned j = i + 1; j < op.getOutputs().size(); ++j)
        if (op.getOutputs()[i].getType() == op.getOutputs()[j].getType())
          edits.add(op,
                    "sums " + std::to_string(i) + " and " + std::to_string(j) + " change places",
                    [op, i, j]() mutable {
                      Readers first(op.getOutputs()[i]), second(op.getOutputs()[j]);
                      first.read(op.getOutputs()[j]);
                      second.read(op.getOutputs()[i]);
                    });
}

// The sum that an argument of the loop enters.
mlir::Operation* sumOf(mlir::Value argument) {
  if (!argument.hasOneUse()) return nullptr;
  mlir::OpOperand& use = *argument.use_begin();
  if (auto on = llvm::dyn_cast<dist::OnOp>(use.getOwner()))
    return sumOf(on.getBody().getArgument(use.getOperandNumber()));
  return pd::OpView::isFrameworkOp(use.getOwner()) ? use.getOwner() : nullptr;
}

void addedTwice(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::MicroOp>(view))
    for (mlir::Value argument : op.getBody().getArguments())
      if (mlir::Operation* sum = sumOf(argument); sum && sum->getNumOperands() == 2)
        edits.add(sum, "counts every micro-batch twice", [sum]() {
          mlir::OpBuilder builder(sum);
          for (unsigned i : {0u, 1u})
            if (sum->getOperand(i).getDefiningOp())
              sum->setOperand(i, scaled(builder, sum->getOperand(i), 2));
        });
}

void beginsElsewhere(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::MicroOp>(view))
    for (auto [i, init] : llvm::enumerate(op.getInits())) {
      mlir::Value value = init;
      if (auto on = value.getDefiningOp<dist::OnOp>())
        value = on.getBody().front().getTerminator()->getOperand(
            llvm::cast<mlir::OpResult>(init).getResultNumber());
      mlir::Operation* zero = value.getDefiningOp();
      if (!zero || !pd::OpView::isFrameworkOp(zero) || !isFloat(value)) continue;
      edits.add(op, "value " + std::to_string(i) + " begins with 1", [value, zero]() mutable {
        Readers readers(value);
        mlir::OpBuilder builder(zero->getContext());
        builder.setInsertionPointAfter(zero);
        readers.read(scaled(builder, value, 1, 1));
      });
    }
}

// A feed that is not cut into micro-batches: every one sees all of it.
void feedWhole(JobView& view, Edits& edits) {
  for (auto op : opsIn<pd::InputOp>(view)) {
    auto batch = op->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
    if (!batch || !op->getParentOfType<dist::MicroOp>()) continue;
    edits.add(op, "`" + op.getName().str() + "` is not cut over the micro-batches", [=]() mutable {
      llvm::SmallVector<mlir::StringAttr> axes;
      auto mesh = dist::meshOf(op);
      for (mlir::StringAttr axis : batch.getAxes())
        if (mesh.indexOf(axis)) axes.push_back(axis);
      if (axes.empty()) op->removeAttr(dist::kBatchAttr);
      else
        op->setAttr(dist::kBatchAttr, dist::BatchAttr::get(op.getContext(), batch.getDim(), axes));
    });
  }
}

// The sums over the micro-batches are read as if they were means, or the other way round.
void sumScaled(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::MicroOp>(view))
    for (mlir::Value argument : op.getBody().getArguments())
      if (mlir::Operation* sum = sumOf(argument))
        edits.add(sum, "takes half of every micro-batch", [sum]() {
          mlir::OpBuilder builder(sum);
          for (unsigned i = 0; i < sum->getNumOperands(); ++i)
            if (sum->getOperand(i).getDefiningOp())
              sum->setOperand(i, scaled(builder, sum->getOperand(i), 0.5));
        });
}

// What a task keeps for another one is overwritten by another value of its kind.
void stashSwapped(JobView& view, Edits& edits) {
  for (auto on : opsIn<dist::OnOp>(view)) {
    if (!on.getTask()) continue;
    for (unsigned i = 0; i < on.getOutputs().size(); ++i)
      for (unsigned j = i + 1; j < on.getOutputs().size(); ++j)
        if (on.getOutputs()[i].getType() == on.getOutputs()[j].getType())
          edits.add(on,
                    "results " + std::to_string(i) + " and " + std::to_string(j) + " change places",
                    [on, i, j]() mutable {
                      Readers first(on.getOutputs()[i]), second(on.getOutputs()[j]);
                      first.read(on.getOutputs()[j]);
                      second.read(on.getOutputs()[i]);
                    });
  }
}

void otherMicros(JobView& view, Edits& edits) {
  if (view.mesh.getTimeSizes().empty()) return;
  edits.add(view.mesh, "has twice as many micro-batches", [mesh = view.mesh]() mutable {
    llvm::SmallVector<int64_t> sizes(mesh.getTimeSizes());
    sizes[0] *= 2;
    mesh.setTimeSizes(sizes);
  });
}

}  // namespace

std::vector<Kind> pipelineKinds() {
  const char* group = "pipeline";
  return {
      {group, "transfer-other", "another value goes to the next stage", Place::Main,
       otherTransferred},
      {group, "transfer-channel", "a value goes over another channel", Place::Main, otherChannel},
      {group, "micro-not-summed", "micro-batches are not added up", Place::Main, notSummed},
      {group, "micro-sums-swapped", "two sums over micro-batches change places", Place::Main,
       sumsSwapped},
      {group, "micro-twice", "every micro-batch counts twice", Place::Main, addedTwice},
      {group, "micro-half", "every micro-batch counts half", Place::Main, sumScaled},
      {group, "micro-begin", "a sum does not begin with nothing", Place::Main, beginsElsewhere},
      {group, "micro-feed-whole", "every micro-batch sees the whole feed", Place::Main, feedWhole},
      {group, "micro-number", "more micro-batches, the same factors", Place::Main, otherMicros},
      {group, "stash-swapped", "two kept values change places", Place::Main, stashSwapped},
  };
}

}  // namespace dtranspile::mutate
