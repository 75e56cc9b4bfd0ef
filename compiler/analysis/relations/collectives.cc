// What communication and cuts do to relations.
#include <optional>

#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/dist/lookup.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtranspile::verify {
namespace {

using dist::Reduce;

constexpr llvm::StringLiteral kPartsTag = "parts";

// Parts of one dim over several axes lie in the order of the mesh, its last axis fastest
// (docs/dialects/dist.md). A cut cuts the parts that are there, so its axes stand behind those that
// the dim is cut over already; and the last cuts are put together first.
bool innermost(const Reading& reading, const Axes& axes, llvm::ArrayRef<unsigned> own,
               int64_t dim) {
  for (unsigned axis = own.empty() ? axes.count() : own.front() + 1; axis < axes.count(); ++axis) {
    const State& state = reading.states[axis];
    bool along =
        state.isSplit() && (state.dim == dim || state.dim == dist::kFlat || dim == dist::kFlat);
    if (along && axes.sizes[axis] > 1 && !llvm::is_contained(own, axis)) return false;
  }
  return true;
}

mlir::StringAttr tagOf(mlir::Operation* op, llvm::StringRef text) {
  return mlir::StringAttr::get(op->getContext(), text);
}

// all_reduce and reduce_scatter. A replicated value summed over n ranks is n times itself, which is
// how a second reduction shows. Values of parts, summed, are n times the mean over the parts.
Relation reduced(const Scene& scene, dist::CommOp comm, const Relation& operand, Reduce reduce,
                 int64_t scatterDim, Loss& loss, bool scatters) {
  Relation result = operand;
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    if (scatters &&
        !innermost(*reading, scene.axes(), axesOfComm(scene.axes(), comm), scatterDim)) {
      loss = {"cuts parts again over an axis that stands before theirs in the mesh", -1, {}};
      *reading = {};
      continue;
    }
    for (unsigned axis : axesOfComm(scene.axes(), comm)) {
      State& state = reading->states[axis];
      bool matches = state.isPartial() && state.reduce == reduce;
      bool counts = reduce == Reduce::Sum && (state.isReplicated() || state.isParts());
      bool idempotent = state.isReplicated() && reduce != Reduce::Sum && reduce != Reduce::Prod;
      bool agreed = reduce == Reduce::Sum && state.isDifferent();
      if (!matches && !counts && !idempotent && !agreed) {
        loss = {"reduces a value that is " + state.text() + " with " +
                    dist::stringifyReduce(reduce).str(),
                static_cast<int>(axis),
                {}};
        *reading = {};
        break;
      }
      if (counts || agreed) reading->scale = reading->scale * Rational(scene.axes().sizes[axis]);
      if (agreed) result.addTags(state.tagAttr());
      state = scatters ? State::split(scatterDim) : State::replicated();
    }
  }
  if (!result.whole.known && result.parts.known) result.addTags(tagOf(comm, kPartsTag));
  return result;
}

Relation gathered(const Scene& scene, dist::CommOp comm, const Relation& operand, int64_t dim,
                  Loss& loss) {
  Relation result = operand;
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    if (!innermost(*reading, scene.axes(), axesOfComm(scene.axes(), comm), dim)) {
      loss = {
          "puts parts together that are still cut over an axis behind theirs in the mesh", -1, {}};
      *reading = {};
      continue;
    }
    for (unsigned axis : axesOfComm(scene.axes(), comm)) {
      State& state = reading->states[axis];
      if (!state.isSplit() || state.dim != dim) {
        loss = {"gathers along a dim a value that is " + state.text(), static_cast<int>(axis), {}};
        *reading = {};
        break;
      }
      state = State::replicated();
    }
  }
  return result;
}

// What one coordinate holds, everywhere: right for equal values, and for draws of which one is
// chosen. Of values that differ because the ranks computed them from samples of their own, the
// others' share would be lost.
Relation broadcast(const Scene& scene, dist::CommOp comm, const Relation& operand, Loss& loss) {
  Relation result = operand;
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    for (unsigned axis : axesOfComm(scene.axes(), comm)) {
      State& state = reading->states[axis];
      if (!state.isReplicated() &&
          !(state.isDifferent() && state.tagAttr().getValue() == kRandomTag)) {
        loss = {"spreads the root's share of a value that is " + state.text(),
                static_cast<int>(axis),
                {}};
        *reading = {};
        break;
      }
      state = State::replicated();
    }
  }
  return result;
}

// A partial sum reduced with max is wrong whatever follows; reported here, and taken for right
// behind.
void demandReduction(const Scene& scene, mlir::Operation* op, dist::CommOp comm) {
  std::optional<Reduce> reduce;
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<dist::AllReduceOp, dist::ReduceOp, dist::ReduceScatterOp>(
          [&](auto one) { reduce = one.getReduce(); });
  if (!reduce) return;
  for (mlir::Value operand : op->getOperands()) {
    Relation relation = scene.of(operand);
    if (!relation.known()) continue;
    for (unsigned axis : axesOfComm(scene.axes(), comm)) {
      State& state = (relation.whole.known ? relation.whole : relation.parts).states[axis];
      if (!state.isPartial() || state.reduce == *reduce) continue;
      scene.report(op, Message::Level::Refuted, "reduction",
                   "combines " + nameText(operand) + ", which is " + state.text() + " along axis " +
                       scene.axes().names[axis] + ", with " + dist::stringifyReduce(*reduce).str(),
                   "reduce it with " + dist::stringifyReduce(state.reduce).str());
      state.reduce = *reduce;
    }
    scene.store.correct(operand, std::move(relation));
  }
}

}  // namespace

llvm::SmallVector<unsigned, 2> axesOfComm(const Axes& all, dist::CommOp comm) {
  llvm::SmallVector<unsigned, 2> axes;
  for (auto name : comm.getAxes().getAsValueRange<mlir::StringAttr>())
    if (int axis = all.indexOf(name); axis >= 0 && all.sizes[axis] > 1) axes.push_back(axis);
  return axes;
}

void visitCollective(const Scene& scene, mlir::Operation* op) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  if (!comm) return scene.giveUnknown(op, "names no communicator");
  demandReduction(scene, op, comm);
  std::vector<Relation> results;
  std::vector<Loss> losses;
  for (mlir::Value operand : op->getOperands()) {
    Loss loss{"takes a value of unknown relation", -1, operand};
    const Relation& input = scene.of(operand);
    Relation result;
    llvm::TypeSwitch<mlir::Operation*>(op)
        .Case([&](dist::AllReduceOp one) {
          result = reduced(scene, comm, input, one.getReduce(), 0, loss, false);
        })
        .Case([&](dist::ReduceOp one) {
          result = reduced(scene, comm, input, one.getReduce(), 0, loss, false);
        })
        .Case([&](dist::ReduceScatterOp one) {
          result = reduced(scene, comm, input, one.getReduce(), one.getDim(), loss, true);
        })
        .Case([&](dist::AllGatherOp one) {
          result = gathered(scene, comm, input, one.getDim(), loss);
        })
        .Case([&](dist::BroadcastOp) { result = broadcast(scene, comm, input, loss); })
        .Case([&](dist::TransferOp) { result = input; })
        .Default([&](mlir::Operation*) { loss = {"has no relation rule", -1, {}}; });
    loss.operand = operand;
    results.push_back(std::move(result));
    losses.push_back(std::move(loss));
  }
  if (op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType())) {
    scene.store.start(op->getResult(0), std::move(results));
    return;
  }
  for (auto [result, relation, loss] : llvm::zip(op->getResults(), results, losses)) {
    if (!relation.known()) scene.store.lose(result, std::move(loss));
    else scene.store.set(result, std::move(relation));
  }
}

void visitWait(const Scene& scene, dist::WaitOp wait) {
  const std::vector<Relation>* found = scene.store.started(wait.getPending());
  if (!found) return scene.giveUnknown(wait, "waits for what was not started here");
  mlir::Operation* start = wait.getPending().getDefiningOp();
  for (auto [i, result] : llvm::enumerate(wait.getOutputs())) {
    const Relation& relation = (*found)[i];
    if (relation.known()) scene.store.set(result, relation);
    else
      scene.store.lose(result,
                       {"was given a value of unknown relation, or one that it cannot combine", -1,
                        start->getOperand(i)});
  }
}

void visitSlice(const Scene& scene, dist::SliceOp slice) {
  Relation relation = scene.of(slice.getInput());
  bool even = slice.getLayout().getKind() == dist::LayoutKind::Even;
  for (Reading* reading : {&relation.whole, &relation.parts})
    for (auto name : slice.getAxes().getAsValueRange<mlir::StringAttr>()) {
      int axis = scene.axes().indexOf(name);
      if (!reading->known || axis < 0 || scene.axes().sizes[axis] == 1) continue;
      if (even && reading->states[axis].isReplicated() &&
          innermost(*reading, scene.axes(), {static_cast<unsigned>(axis)}, slice.getDim()))
        reading->states[axis] = State::split(slice.getDim());
      else *reading = {};
    }
  if (relation.known()) scene.store.set(slice.getOutput(), std::move(relation));
  else
    scene.store.lose(slice.getOutput(), {"cuts a value that is not whole", -1, slice.getInput()});
}

}  // namespace dtranspile::verify
