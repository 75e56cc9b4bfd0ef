// What communication and cuts do to relations.
#include <optional>

#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/dist/lookup.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtranspile::verify {
namespace {

using dist::Reduce;

// Parts of one dim over several axes lie in the order of the mesh, its last axis fastest; what is
// flat is flat parts of what the cuts of dims leave, whatever the order of their axes
// (docs/dialects/dist.md). A cut cuts the parts that are there, so its axes stand after those that
// the dim is cut over already; and the last cuts are put together first.
bool innermost(const Reading& reading, const Axes& axes, llvm::ArrayRef<unsigned> own,
               int64_t dim) {
  for (unsigned axis = own.empty() ? axes.count() : own.front() + 1; axis < axes.count(); ++axis) {
    const State& state = reading.states[axis];
    const bool along = state.isSplit() && state.dim == dim;
    if (along && axes.sizes[axis] > 1 && !llvm::is_contained(own, axis)) return false;
  }
  // Of a flat part no dim is there to be cut, or put together.
  for (unsigned axis = 0; dim != dist::kFlat && axis < axes.count(); ++axis)
    if (const State& state = reading.states[axis];
        state.isSplit() && state.dim == dist::kFlat && axes.sizes[axis] > 1)
      return false;
  return true;
}

}  // namespace

// Case by case: partial values are reduced by their own reduction only; equal ones by any but a
// product; values per share and local ones by sums only.
std::optional<Rational> reducedScale(const State& state, Reduce reduce, int64_t size,
                                     const Relation& operand, bool whole) {
  if (state.isPartial() && state.reduce == reduce) return Rational();
  if (state.isReplicated() && reduce != Reduce::Prod)
    return reduce == Reduce::Sum ? Rational(size) : Rational();
  if (reduce != Reduce::Sum) return std::nullopt;
  if (state.isParts() && !whole) return Rational(size);
  if (state.isParts() && operand.gradient) return Rational();
  // The mean of the ranks' parameters.
  if (state.isDifferent() && isOwnStepTag(state.tagAttr().getValue())) return Rational(size);
  return std::nullopt;
}

namespace {

// all_reduce and reduce_scatter, for one of the readings.
Reading reducedReading(const Scene& scene, dist::CommOp comm, const Relation& operand, bool whole,
                       Reduce reduce, std::optional<int64_t> scatterDim, Reason& reason) {
  Reading reading = whole ? operand.whole : operand.parts;
  if (!reading.known) return reading;
  llvm::SmallVector<unsigned, 2> own = axesOfComm(scene.axes(), comm);
  if (scatterDim && !innermost(reading, scene.axes(), own, *scatterDim)) {
    reason = {"cuts parts again over an axis that stands before theirs in the mesh", -1, {}};
    return {};
  }
  for (unsigned axis : own) {
    State& state = reading.states[axis];
    std::optional<Rational> factor =
        reducedScale(state, reduce, scene.axes().sizes[axis], operand, whole);
    if (!factor) {
      reason = {"combines with " + dist::stringifyReduce(reduce).str() + " a value that is " +
                    state.text(),
                static_cast<int>(axis),
                {}};
      // What belongs to different samples or ranks becomes one: no value of the reference.
      if (state.isSplit() || state.isParts() || state.isDifferent()) reason.wrong = "reduction";
      return {};
    }
    reading.scale = reading.scale * *factor;
    state = scatterDim ? State::split(*scatterDim) : State::replicated();
  }
  return reading;
}

// What is lost as a whole is lost: the mean over shares of a value is no value of the reference.
Relation reduced(const Scene& scene, dist::CommOp comm, const Relation& operand, Reduce reduce,
                 std::optional<int64_t> scatterDim, Reason& reason) {
  Relation result = operand;
  Reason ignored;
  result.whole = reducedReading(scene, comm, operand, true, reduce, scatterDim, reason);
  result.parts = result.whole.known
                     ? reducedReading(scene, comm, operand, false, reduce, scatterDim, ignored)
                     : Reading();
  for (unsigned axis : axesOfComm(scene.axes(), comm))
    if (operand.whole.known && operand.whole.states[axis].isDifferent())
      result.addTags(operand.whole.states[axis].tagAttr());
  return result;
}

// A value of the forward part of which each rank has its share's term, or what follows from such a
// sum, is added up: the value of the whole batch, which no op gives on a share. (What a variable
// adds up over steps is declared partial, and stays what it is.)
bool sumsShares(const Scene& scene, dist::CommOp comm, const Relation& operand) {
  if (operand.gradient || scene.question.startup || !operand.whole.known) return false;
  return llvm::any_of(axesOfComm(scene.axes(), comm), [&](unsigned axis) {
    const bool term = operand.parts.known && operand.parts.states[axis].isParts();
    return scene.axes().isData[axis] && operand.whole.states[axis].isPartial() &&
           (term || operand.summed);
  });
}

// all_reduce with sum, of what it gives in the forward part.
Relation allReduced(const Scene& scene, dist::AllReduceOp op, dist::CommOp comm,
                    const Relation& operand, Reason& reason) {
  Relation result = reduced(scene, comm, operand, op.getReduce(), std::nullopt, reason);
  if (op.getReduce() == Reduce::Sum && !op->getParentOfType<dist::CompositeOp>() &&
      sumsShares(scene, comm, operand)) {
    result.summed = true;
    result.parts = overRanks(result.whole, scene.axes());
  }
  return result;
}

// Parts along exactly this dim become the whole, in the order of the ranks.
Relation gathered(const Scene& scene, dist::CommOp comm, const Relation& operand, int64_t dim,
                  Reason& reason) {
  Relation result = operand;
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    if (!innermost(*reading, scene.axes(), axesOfComm(scene.axes(), comm), dim)) {
      reason = {
          "puts parts together that are still cut over an axis after theirs in the mesh", -1, {}};
      *reading = {};
      continue;
    }
    for (unsigned axis : axesOfComm(scene.axes(), comm)) {
      State& state = reading->states[axis];
      if (!(state == State::split(dim))) {
        reason = {
            "gathers along a dim a value that is " + state.text(), static_cast<int>(axis), {}};
        *reading = {};
        break;
      }
      state = State::replicated();
    }
  }
  return result;
}

// Parts along `from` become parts along `to`.
Relation exchanged(const Scene& scene, dist::CommOp comm, const Relation& operand, int64_t from,
                   int64_t to, Reason& reason) {
  Relation result = operand;
  llvm::SmallVector<unsigned, 2> own = axesOfComm(scene.axes(), comm);
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    const bool ordered =
        innermost(*reading, scene.axes(), own, from) && innermost(*reading, scene.axes(), own, to);
    for (unsigned axis : own) {
      State& state = reading->states[axis];
      if (ordered && state == State::split(from)) {
        state = State::split(to);
        continue;
      }
      reason = {"exchanges the parts along dim " + std::to_string(from) + " of a value that is " +
                    state.text(),
                static_cast<int>(axis),
                {}};
      *reading = {};
      break;
    }
  }
  return result;
}

// What one coordinate holds, everywhere: right for equal values, and for draws of which one is
// chosen. Of values that differ because the ranks computed them from samples of their own, the
// others' share would be lost. Of a located value only what the root holds is looked at.
Relation broadcast(const Scene& scene, dist::BroadcastOp op, dist::CommOp comm, mlir::Value input,
                   Reason& reason) {
  Relation result = scene.of(input);
  if (auto at = llvm::dyn_cast<dist::AtType>(input.getType())) {
    const Place& here = scene.store.scope().place;
    result = scene.store.restricted(std::move(result), here.within(at.getWhere()),
                                    here.within(op.getRoot()), reason);
    for (Reading* reading : {&result.whole, &result.parts})
      for (unsigned axis : axesOfComm(scene.axes(), comm)) {
        if (!reading->known) continue;
        if (reading->states[axis].isDifferent()) result.draw = op->getResult(0);
        reading->states[axis] = State::replicated();
      }
    return result;
  }
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    for (unsigned axis : axesOfComm(scene.axes(), comm)) {
      State& state = reading->states[axis];
      if (!state.isReplicated() &&
          !(state.isDifferent() && state.tagAttr().getValue() == kRandomTag)) {
        reason = {"spreads the root's share of a value that is " + state.text(),
                  static_cast<int>(axis),
                  {}};
        *reading = {};
        break;
      }
      if (state.isDifferent()) result.draw = op->getResult(0);
      state = State::replicated();
    }
  }
  return result;
}

// A partial sum reduced with max is wrong whatever follows; reported here, and taken for right
// after.
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
      State& state = relation.whole.states[axis];
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

// Where ranks take steps of their own a gradient is each rank's: a merged one, once averaged, has
// the scale of what the reference's ops give on a share, and is none of any share.
void demandOwn(const Scene& scene, mlir::Operation* op, dist::CommOp comm) {
  const Contracts& contracts = scene.question.contracts;
  if (scene.question.startup ||
      llvm::none_of(contracts.sites, [](const auto& one) { return isOwnStepTag(one.first); }))
    return;
  for (mlir::Value operand : op->getOperands()) {
    const Relation& relation = scene.of(operand);
    if (!relation.gradient || !relation.parts.known) continue;
    for (unsigned axis : axesOfComm(scene.axes(), comm)) {
      if (!relation.parts.states[axis].isParts()) continue;
      scene.report(op, Message::Level::Refuted, "contract",
                   "combines the ranks' gradients " + nameText(operand) +
                       ", where every rank takes the step on its own share",
                   "leave gradients as they are, and average what the contract says");
      break;
    }
  }
}

// A result of unknown relation keeps its lineage: what follows is still compared with the right
// variable.
void give(const Scene& scene, mlir::Value result, const Awaited& awaited) {
  if (awaited.relation.known()) return scene.store.set(result, awaited.relation);
  scene.store.lose(result, awaited.reason);
  // It still stands for what it was made from.
  Relation nothing;
  if (awaited.reason.operand) nothing.follow(scene.of(awaited.reason.operand));
  scene.store.correct(result, std::move(nothing));
}

// Why communication on a comm has no rule; empty where it has.
std::string notModelled(const Scene& scene, mlir::Operation* op, dist::CommOp comm) {
  const std::string name = "@" + comm.getSymName().str();
  if (comm.getMesh() != dist::RoleOp(scene.question.role).getMesh())
    return "communicates on " + name + ", which is no communicator of the role's mesh";
  if (llvm::isa<dist::TransferOp>(op)) return "";
  // The members are the ranks that come here (D8): then the axes' sizes here are the group's.
  const Place& here = scene.store.scope().place;
  for (auto axis : comm.getAxes().getAsValueRange<mlir::StringAttr>()) {
    dist::AxisSetAttr members = comm.getSubset() ? comm.getSubset()->lookup(axis) : nullptr,
                      come = here.where ? here.where.lookup(axis) : dist::AxisSetAttr();
    if (members != come || here.isVague(axis))
      return "communicates on " + name + ", whose members are not the ranks that come here";
  }
  for (mlir::Value operand : op->getOperands())
    if (llvm::isa<dist::AtType>(operand.getType()) && !llvm::isa<dist::BroadcastOp>(op))
      return "takes " + nameText(operand) + ", which only some of the members hold";
  return "";
}

}  // namespace

llvm::SmallVector<unsigned, 2> axesOfComm(const Axes& all, dist::CommOp comm) {
  llvm::SmallVector<unsigned, 2> axes;
  for (auto name : comm.getAxes().getAsValueRange<mlir::StringAttr>())
    if (int axis = all.indexOf(name); axis >= 0 && all.sizes[axis] > 1) axes.push_back(axis);
  return axes;
}

// One operand at a time, each with its result. A collective that is only started gives its results
// when it is waited for.
void visitCollective(const Scene& scene, mlir::Operation* op) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  if (!comm) return scene.giveUnknown(op, "names no communicator");
  if (std::string why = notModelled(scene, op, comm); !why.empty()) {
    scene.report(op, Message::Level::Unknown, "communicator", why,
                 "use a communicator of the role's mesh, on the ranks that it joins");
    return scene.giveUnknown(op, why);
  }
  demandReduction(scene, op, comm);
  demandOwn(scene, op, comm);
  std::vector<Awaited> results;
  for (mlir::Value operand : op->getOperands()) {
    Awaited result;
    result.reason = {"takes a value of unknown relation", -1, operand};
    const Relation& input = scene.of(operand);
    llvm::TypeSwitch<mlir::Operation*>(op)
        .Case([&](dist::AllReduceOp one) {
          result.relation = allReduced(scene, one, comm, input, result.reason);
        })
        .Case([&](dist::ReduceOp one) {
          result.relation =
              reduced(scene, comm, input, one.getReduce(), std::nullopt, result.reason);
        })
        .Case([&](dist::ReduceScatterOp one) {
          result.relation =
              reduced(scene, comm, input, one.getReduce(), one.getDim(), result.reason);
        })
        .Case([&](dist::AllGatherOp one) {
          // SelectedRows stand for the sum of what they hold: all ranks' rows together are the sum.
          result.relation =
              llvm::isa<pd::RowsType>(dist::unlocated(operand.getType()))
                  ? reduced(scene, comm, input, Reduce::Sum, std::nullopt, result.reason)
                  : gathered(scene, comm, input, one.getDim(), result.reason);
        })
        .Case([&](dist::AllToAllOp one) {
          result.relation =
              exchanged(scene, comm, input, one.getConcat(), one.getSplit(), result.reason);
        })
        .Case([&](dist::BroadcastOp one) {
          result.relation = broadcast(scene, one, comm, operand, result.reason);
        })
        .Case([&](dist::TransferOp) { result.relation = input; })
        .Default([&](mlir::Operation*) { result.reason = {"has no relation rule", -1, {}}; });
    result.reason.operand = operand;
    results.push_back(std::move(result));
  }
  if (op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType()))
    return scene.store.start(op->getResult(0), std::move(results));
  for (auto [result, awaited] : llvm::zip(op->getResults(), results)) give(scene, result, awaited);
}

void visitWait(const Scene& scene, dist::WaitOp wait) {
  const std::vector<Awaited>* found = scene.store.started(wait.getPending());
  if (!found) return scene.giveUnknown(wait, "waits for what was not started here");
  for (auto [i, result] : llvm::enumerate(wait.getOutputs())) give(scene, result, (*found)[i]);
}

// Each rank takes its part of a value that all have whole.
void visitSlice(const Scene& scene, dist::SliceOp slice) {
  Relation relation = scene.of(slice.getInput());
  const bool even = slice.getLayout().getKind() == dist::LayoutKind::Even;
  const bool cuts = even || slice.getAxes().size() == 1;
  for (Reading* reading : {&relation.whole, &relation.parts})
    for (auto name : slice.getAxes().getAsValueRange<mlir::StringAttr>()) {
      int axis = scene.axes().indexOf(name);
      if (!reading->known || axis < 0 || scene.axes().sizes[axis] == 1) continue;
      if (cuts && reading->states[axis].isReplicated() &&
          innermost(*reading, scene.axes(), {static_cast<unsigned>(axis)}, slice.getDim()))
        reading->states[axis] = State::split(slice.getDim(), slice.getLayout());
      else *reading = {};
    }
  if (relation.known()) scene.store.set(slice.getOutput(), std::move(relation));
  else
    scene.store.lose(slice.getOutput(), {"cuts a value that is not whole", -1, slice.getInput()});
}

}  // namespace dtranspile::verify
