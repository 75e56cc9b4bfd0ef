// Rung 2 over dialect dist: what communication and rank-conditional regions do to relations.
#include <optional>
#include <utility>

#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/analysis.h"
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

}  // namespace

llvm::SmallVector<unsigned, 2> Analysis::axesOfComm(dist::CommOp comm) const {
  llvm::SmallVector<unsigned, 2> axes;
  for (auto name : comm.getAxes().getAsValueRange<mlir::StringAttr>())
    if (int axis = axes_.indexOf(name); axis >= 0 && axes_.sizes[axis] > 1) axes.push_back(axis);
  return axes;
}

// all_reduce and reduce_scatter. A replicated value summed over n ranks is n times itself, which is
// how a second reduction shows. Values of parts, summed, are n times the mean over the parts.
Relation Analysis::reduced(dist::CommOp comm, const Relation& operand, Reduce reduce,
                           int64_t scatterDim, Loss& loss, bool scatters) {
  Relation result = operand;
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    if (scatters && !innermost(*reading, axes_, axesOfComm(comm), scatterDim)) {
      loss = {"cuts parts again over an axis that stands before theirs in the mesh", -1, {}};
      *reading = {};
      continue;
    }
    for (unsigned axis : axesOfComm(comm)) {
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
      if (counts || agreed) reading->scale = reading->scale * Rational(axes_.sizes[axis]);
      if (agreed) result.addTags(state.tagAttr());
      state = scatters ? State::split(scatterDim) : State::replicated();
    }
  }
  if (!result.whole.known && result.parts.known) result.addTags(tagOf(comm, kPartsTag));
  return result;
}

Relation Analysis::gathered(dist::CommOp comm, const Relation& operand, int64_t dim, Loss& loss) {
  Relation result = operand;
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    if (!innermost(*reading, axes_, axesOfComm(comm), dim)) {
      loss = {
          "puts parts together that are still cut over an axis behind theirs in the mesh", -1, {}};
      *reading = {};
      continue;
    }
    for (unsigned axis : axesOfComm(comm)) {
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
Relation Analysis::broadcast(dist::CommOp comm, const Relation& operand, Loss& loss) {
  Relation result = operand;
  for (Reading* reading : {&result.whole, &result.parts}) {
    if (!reading->known) continue;
    for (unsigned axis : axesOfComm(comm)) {
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
void Analysis::demandReduction(mlir::Operation* op, dist::CommOp comm) {
  std::optional<Reduce> reduce;
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<dist::AllReduceOp, dist::ReduceOp, dist::ReduceScatterOp>(
          [&](auto one) { reduce = one.getReduce(); });
  if (!reduce) return;
  for (mlir::Value operand : op->getOperands()) {
    Relation relation = of(operand);
    if (!relation.known()) continue;
    for (unsigned axis : axesOfComm(comm)) {
      State& state = (relation.whole.known ? relation.whole : relation.parts).states[axis];
      if (!state.isPartial() || state.reduce == *reduce) continue;
      report(op, Message::Level::Refuted, "reduction",
             "combines " + nameText(operand) + ", which is " + state.text() + " along axis " +
                 axes_.names[axis] + ", with " + dist::stringifyReduce(*reduce).str(),
             "reduce it with " + dist::stringifyReduce(state.reduce).str());
      state.reduce = *reduce;
    }
    relations_[operand] = std::move(relation);
  }
}

void Analysis::visitCollective(mlir::Operation* op) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  if (!comm) return giveUnknown(op, "names no communicator");
  demandReduction(op, comm);
  std::vector<Relation> results;
  std::vector<Loss> losses;
  for (mlir::Value operand : op->getOperands()) {
    Loss loss{"takes a value of unknown relation", -1, operand};
    const Relation& input = of(operand);
    Relation result;
    llvm::TypeSwitch<mlir::Operation*>(op)
        .Case([&](dist::AllReduceOp one) {
          result = reduced(comm, input, one.getReduce(), 0, loss, false);
        })
        .Case([&](dist::ReduceOp one) {
          result = reduced(comm, input, one.getReduce(), 0, loss, false);
        })
        .Case([&](dist::ReduceScatterOp one) {
          result = reduced(comm, input, one.getReduce(), one.getDim(), loss, true);
        })
        .Case([&](dist::AllGatherOp one) { result = gathered(comm, input, one.getDim(), loss); })
        .Case([&](dist::BroadcastOp) { result = broadcast(comm, input, loss); })
        .Case([&](dist::TransferOp) { result = input; })
        .Default([&](mlir::Operation*) { loss = {"has no relation rule", -1, {}}; });
    loss.operand = operand;
    results.push_back(std::move(result));
    losses.push_back(std::move(loss));
  }
  if (op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType())) {
    pending_[op->getResult(0)] = std::move(results);
    return;
  }
  for (auto [result, relation, loss] : llvm::zip(op->getResults(), results, losses)) {
    if (!relation.known()) lose(result, std::move(loss));
    else set(result, std::move(relation));
  }
}

void Analysis::visitWait(dist::WaitOp wait) {
  auto found = pending_.find(wait.getPending());
  if (found == pending_.end()) return giveUnknown(wait, "waits for what was not started here");
  mlir::Operation* start = wait.getPending().getDefiningOp();
  for (auto [i, result] : llvm::enumerate(wait.getOutputs())) {
    const Relation& relation = found->second[i];
    if (relation.known()) set(result, relation);
    else
      lose(result, {"was given a value of unknown relation, or one that it cannot combine", -1,
                    start->getOperand(i)});
  }
}

// A variable that a body sets is set so on the ranks of its selector only. Unless it exists on
// these alone, both bodies must leave it alike: `held` is how the body leaves the variables,
// variables_ how the else-body does, which may be none.
void Analysis::joinVariables(dist::OnOp on, const std::map<std::string, Variable>& before,
                             std::map<std::string, Variable> held) {
  dist::SelAttr where = on.getWhere();
  bool everywhere = llvm::all_of(where.getSets(), [&](dist::AxisSetAttr set) {
    int axis = axes_.indexOf(set.getAxis().getValue());
    return axis >= 0 && set.count() == axes_.sizes[axis];
  });
  for (auto& [name, here] : held) {
    Variable& there = variables_.find(name)->second;
    mlir::Operation* unset = before.find(name)->second.setter;
    if (here.setter == unset && there.setter == unset) continue;
    auto at = here.op->getAttrOfType<dist::SelAttr>(dist::kAtAttr);
    bool oneBody = everywhere ||
                   (at && (where.contains(at) || !where.intersect(at)));  // that all its ranks run
    mlir::Operation* setter = here.setter != unset ? here.setter : there.setter;
    bool alike = oneBody || here.now == there.now;
    if (here.setter != unset || everywhere) there = here;
    if (alike) continue;
    report(setter, Message::Level::Refuted, "invariant",
           "sets `" + name +
               "` on the ranks of this region only; elsewhere it ends as another value, so that "
               "the ranks' copies drift apart",
           "set it behind the dist.on, or alike in both of its bodies; or give the variable a "
           "dist.at, if it exists on these ranks only");
  }
}

// The values that both bodies give are joined; a replicated value on one coordinate and zero
// elsewhere is a partial sum: the way to count a replicated thing once.
void Analysis::visitOn(dist::OnOp on) {
  // Either body begins with the variables as they are before the op.
  const std::map<std::string, Variable> before = variables_;
  std::map<std::string, Variable> held;
  for (mlir::Region* region : {&on.getBody(), &on.getOtherwise()}) {
    if (region == &on.getOtherwise()) held = std::exchange(variables_, before);
    if (region->empty()) continue;
    for (auto [argument, input] : llvm::zip(region->front().getArguments(), on.getInputs()))
      set(argument, of(input));
    visit(region->front());
  }
  joinVariables(on, before, std::move(held));
  auto yielded = [](mlir::Region& region) {
    return llvm::cast<dist::YieldOp>(region.front().getTerminator()).getValues();
  };
  bool hasElse = !on.getOtherwise().empty();
  llvm::ArrayRef<dist::AxisSetAttr> sets = on.getWhere().getSets();
  int axis =
      sets.size() == 1 && sets[0].isPoint() ? axes_.indexOf(sets[0].getAxis().getValue()) : -1;
  for (mlir::OpResult result : on->getResults()) {
    unsigned i = result.getResultNumber();
    Relation here = of(yielded(on.getBody())[i]);
    if (!hasElse) {
      set(result, std::move(here));
      continue;
    }
    const Relation& there = of(yielded(on.getOtherwise())[i]);
    if (there.isZero && axis >= 0 && here.whole.known && here.whole.states[axis].isReplicated()) {
      for (Reading* reading : {&here.whole, &here.parts})
        if (reading->known) reading->states[axis] = State::partial(Reduce::Sum);
      set(result, std::move(here));
    } else if (here == there) {
      set(result, std::move(here));
    } else {
      lose(result, {"joins values of different relations", -1, {}});
    }
  }
}

void Analysis::visitSlice(dist::SliceOp slice) {
  Relation relation = of(slice.getInput());
  bool even = slice.getLayout().getKind() == dist::LayoutKind::Even;
  for (Reading* reading : {&relation.whole, &relation.parts})
    for (auto name : slice.getAxes().getAsValueRange<mlir::StringAttr>()) {
      int axis = axes_.indexOf(name);
      if (!reading->known || axis < 0 || axes_.sizes[axis] == 1) continue;
      if (even && reading->states[axis].isReplicated() &&
          innermost(*reading, axes_, {static_cast<unsigned>(axis)}, slice.getDim()))
        reading->states[axis] = State::split(slice.getDim());
      else *reading = {};
    }
  if (relation.known()) set(slice.getOutput(), std::move(relation));
  else lose(slice.getOutput(), {"cuts a value that is not whole", -1, slice.getInput()});
}

void Analysis::visitDist(mlir::Operation* op) {
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case([&](dist::WaitOp wait) { visitWait(wait); })
      .Case([&](dist::OnOp on) { visitOn(on); })
      .Case([&](dist::SliceOp slice) { visitSlice(slice); })
      .Case([&](dist::CompositeOp composite) { visitComposite(composite); })
      .Case([&](dist::CopyOp copy) {
        if (llvm::isa<dist::PendingType>(copy.getOutput().getType()))
          pending_[copy.getOutput()] = {of(copy.getInput())};
        else set(copy.getOutput(), of(copy.getInput()));
      })
      .Case([&](dist::AssumeOp assume) {
        Relation relation = of(assume.getInput());
        relation.whole = relation.parts = readingOf(assume.getRelation(), axes_);
        relation.addTags(assume.getRelation().getTags());
        set(assume.getOutput(), std::move(relation));
        report(op, Message::Level::Unknown, "assume",
               "assumes a relation that no rule derives: " + assume.getBecause().str(),
               "let the pass declare a contract for it, or remove the assumption");
      })
      .Case<dist::BarrierOp, dist::YieldOp>([](mlir::Operation*) {})
      .Default([&](mlir::Operation* other) {
        if (dist::commOf(other) &&
            !llvm::isa<dist::PushOp, dist::PullOp, dist::LookupOp, dist::PhaseOp>(other))
          visitCollective(other);
        else giveUnknown(other, "has no relation rule");
      });
}

}  // namespace dtranspile::verify
