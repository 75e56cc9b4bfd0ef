#include "compiler/export/collective/exporter.h"

#include "compiler/export/collective/pipeline.h"
#include "compiler/export/collective/rank_data.h"
#include "compiler/export/collective/ring_setup.h"
#include "compiler/export/collective/vocabulary.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtranspile {
namespace {

// Composites of no operator: updates that sum up norms of parts. Their bodies are written.
constexpr llvm::StringLiteral kWrittenOut[] = {"sharded_clip_by_norm", "sharded_lamb",
                                               "sharded_lars_momentum"};

// A composite names an operator of the framework that does what its body says: slots, names and
// attributes are its own.
mlir::LogicalResult frameworkOp(Emitter& emitter, dist::CompositeOp op) {
  if (isOfVocabulary(op)) return exportVocabulary(emitter, op);
  std::vector<pd::InputSlot> inputs;
  std::vector<pd::OutputSlot> outputs;
  for (auto [slot, value] :
       llvm::zip(op.getInputSlots().getAsValueRange<mlir::StringAttr>(), op.getInputs())) {
    if (inputs.empty() || inputs.back().name != slot) inputs.push_back({slot, {}});
    inputs.back().values.push_back(value);
  }
  for (auto [slot, name, type] :
       llvm::zip(op.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                 op.getOutputNames().getAsValueRange<mlir::StringAttr>(), op.getResultTypes())) {
    if (outputs.empty() || outputs.back().name != slot) outputs.push_back({slot, {}});
    outputs.back().results.push_back({name.str(), type});
  }
  auto role = op.getAttrs().getAs<mlir::IntegerAttr>("op_role");
  pd::OpView made = emitter.declarations().create(
      emitter.builder(), op.getLoc(), op.getOp(), inputs, outputs, op.getAttrs().getValue(),
      role ? static_cast<int>(role.getInt()) : pd::kForward);
  op->replaceAllUsesWith(made.operation()->getResults());
  return drop(op);
}

}  // namespace

// `setUp`: the start-up program also creates the rings. A pipeline is laid out first, since its
// tasks stand in regions that the framework does not have.
mlir::LogicalResult Exporter::run(pd::ProgramOp program, bool setUp) {
  if (setUp) makeRings(emitter_, *program.getBodyBlock(), endpoints_);
  if (mlir::failed(layOutStage(program, emitter_.mesh(), emitter_.rank(), rings_)))
    return mlir::failure();
  llvm::SmallVector<mlir::Block*> blocks;
  program.walk([&](mlir::Block* block) {
    if (!llvm::isa<dist::DistDialect>(block->getParentOp()->getDialect())) blocks.push_back(block);
  });
  for (mlir::Block* block : blocks)
    for (mlir::Operation& op : llvm::make_early_inc_range(*block)) {
      if (!llvm::isa_and_nonnull<dist::DistDialect>(op.getDialect())) continue;
      emitter_.builder().setInsertionPoint(&op);
      if (mlir::failed(translate(&op))) return mlir::failure();
    }
  return mlir::success();
}

mlir::LogicalResult Exporter::translate(mlir::Operation* op) {
  if (sums_.takeFolded(op)) return drop(op);
  return llvm::TypeSwitch<mlir::Operation*, mlir::LogicalResult>(op)
      .Case([&](dist::WaitOp wait) {
        return rooted_.isStarted(wait) ? rooted_.finish(wait) : sums_.finish(wait);
      })
      .Case([&](dist::CoordOp coord) { return exportCoord(emitter_, coord); })
      .Case([&](dist::SliceOp slice) { return exportSlice(emitter_, slice); })
      .Case([&](dist::CompositeOp composite) {
        return llvm::is_contained(kWrittenOut, composite.getOp())
                   ? writeBody(composite)
                   : frameworkOp(emitter_, composite);
      })
      .Default([&](mlir::Operation* other) { return communicate(other); });
}

// Inlines a composite that the framework has no operator for, and translates the communication in
// it.
mlir::LogicalResult Exporter::writeBody(dist::CompositeOp composite) {
  mlir::Block& body = composite.getBody().front();
  for (auto [argument, input] : llvm::zip(body.getArguments(), composite.getInputs()))
    argument.replaceAllUsesWith(input);
  auto yield = llvm::cast<dist::YieldOp>(body.getTerminator());
  composite->replaceAllUsesWith(yield.getValues());
  yield.erase();
  const llvm::SmallVector<dist::AllReduceOp> sums(body.getOps<dist::AllReduceOp>());
  composite->getBlock()->getOperations().splice(composite->getIterator(), body.getOperations());
  for (dist::AllReduceOp sum : sums) {
    emitter_.builder().setInsertionPoint(sum);
    if (mlir::failed(translate(sum))) return mlir::failure();
  }
  return drop(composite);
}

mlir::LogicalResult Exporter::communicate(mlir::Operation* op) {
  const int ring = emitter_.ringOf(op);
  if (dist::commOf(op) && ring < 0) return sums_.identity(op);  // a group of one
  return llvm::TypeSwitch<mlir::Operation*, mlir::LogicalResult>(op)
      .Case([&](dist::AllReduceOp reduce) { return sums_.allReduce(reduce, ring); })
      .Case([&](dist::AllGatherOp gather) { return sums_.allGather(gather, ring); })
      .Case([&](dist::ReduceScatterOp scatter) { return sums_.foldLevels(scatter); })
      .Case([&](dist::BroadcastOp broadcast) { return rooted_.broadcast(broadcast, ring); })
      .Case([&](dist::ReduceOp reduce) { return rooted_.reduce(reduce, ring); })
      .Case([&](dist::SendOp send) -> mlir::LogicalResult {
        if (mlir::failed(wires_.check(send))) return mlir::failure();
        wires_.send(emitter_.builder(), emitter_.declarations(), send, roleOf(send.getInput()));
        return drop(send);
      })
      .Case([&](dist::RecvOp receive) -> mlir::LogicalResult {
        if (mlir::failed(wires_.check(receive))) return mlir::failure();
        receive.getOutput().replaceAllUsesWith(
            wires_.receive(emitter_.builder(), emitter_.declarations(), receive, pd::kForward));
        return drop(receive);
      })
      .Default([](mlir::Operation* other) {
        return other->emitError("export: ")
               << other->getName() << " has no translation into operators of the framework";
      });
}

}  // namespace dtranspile
