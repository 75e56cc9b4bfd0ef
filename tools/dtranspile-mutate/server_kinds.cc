// Parameter servers: what is pushed where, when rounds end, what is pulled, and what servers make
// of it.
#include "dialects/dist/lookup.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// The table of another push or pull of the program.
template <typename Op>
void otherTable(JobView& view, Edits& edits) {
  for (Op op : opsIn<Op>(view))
    for (Op other : opsIn<Op>(view))
      if (op.getVar() != other.getVar())
        edits.add(op, "of another table",
                  [op, now = other.getVarAttr()]() mutable { op.setVarAttr(now); });
}

void pushDropped(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PushOp>(view))
    edits.add(op, "is left out", [op]() mutable { op.erase(); });
}

// The gradient would enter the round twice.
void pushDoubled(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PushOp>(view))
    edits.add(op, "is made twice", [op]() mutable {
      mlir::OpBuilder builder(op);
      builder.clone(*op);
    });
}

// Mean for sum is off by the number of trainers; each by itself makes as many updates as trainers.
void pushMerge(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PushOp>(view))
    for (dist::Merge merge : {dist::Merge::Mean, dist::Merge::Sum, dist::Merge::Each})
      if (merge != op.getMerge())
        edits.add(op, "merges by " + dist::stringifyMerge(merge).str(), [op, merge]() mutable {
          op.setMergeAttr(dist::MergeAttr::get(op.getContext(), merge));
        });
}

// Off by a factor, as where a trainer scales what the server scales again.
void pushScaled(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PushOp>(view))
    for (double factor : {0.5, 2.0})
      edits.add(op, "of " + std::to_string(factor) + " times the gradient", [=]() mutable {
        mlir::OpBuilder builder(op);
        op.getInputMutable().assign(scaled(builder, op.getInput(), factor));
      });
}

// Any other value of the block of the gradient's type.
void pushOther(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PushOp>(view))
    for (mlir::Value value : view.values)
      if (value != op.getInput() && value.getType() == op.getInput().getType() &&
          value.getParentBlock() == op->getBlock())
        edits.add(op, "of " + quoted(value),
                  [op, value]() mutable { op.getInputMutable().assign(value); });
}

void phaseDropped(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PhaseOp>(view))
    edits.add(op, "is left out", [op]() mutable { op.erase(); });
}

// The round ends, and an empty one begins and ends after it.
void phaseDoubled(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PhaseOp>(view))
    edits.add(op, "is made twice", [op]() mutable {
      mlir::OpBuilder builder(op);
      builder.clone(*op);
    });
}

// The phase and the op before it change places: a push after its phase, a pull before the round.
void phaseEarly(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PhaseOp>(view)) {
    mlir::Operation* before = op->getPrevNode();
    while (before && !dist::commOf(before)) before = before->getPrevNode();
    if (before) edits.add(op, "stands before its last request", [=]() { op->moveBefore(before); });
  }
}

// After the next op that communicates: a request of the next phase is then made in this one.
void phaseLate(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PhaseOp>(view)) {
    mlir::Operation* after = op->getNextNode();
    while (after && !dist::commOf(after)) after = after->getNextNode();
    if (after) edits.add(op, "stands after the next request", [=]() { op->moveAfter(after); });
  }
}

// The variable keeps the values of the round before.
void pullUnused(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PullOp>(view))
    for (mlir::Operation* user : op->getUsers())
      if (llvm::isa<pd::SetOp>(user)) edits.add(op, "is not stored", [user]() { user->erase(); });
}

void pullScaled(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::PullOp>(view))
    edits.add(op, "is halved", [op]() mutable {
      Readers readers(op.getOutput());
      mlir::OpBuilder builder(op.getContext());
      builder.setInsertionPointAfter(op);
      readers.read(scaled(builder, op.getOutput(), 0.5));
    });
}

// On the server.
void mergedOther(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::MergedOp>(view))
    for (pd::VarOp var : variablesOf(view))
      if (var.getType() == op.getOutput().getType() && var.getSymName() != op.getVar())
        edits.add(op, "of `" + var.getSymName().str() + "`", [op, var]() mutable {
          op.setVarAttr(mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()));
        });
}

void mergedScaled(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::MergedOp>(view))
    edits.add(op, "is halved", [op]() mutable {
      Readers readers(op.getOutput());
      mlir::OpBuilder builder(op.getContext());
      builder.setInsertionPointAfter(op);
      readers.read(scaled(builder, op.getOutput(), 0.5));
    });
}

void blocksDropped(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::ForeachBlockOp>(view))
    if (op->getNumResults() == 0) edits.add(op, "is left out", [op]() mutable { op.erase(); });
}

// Optimizers are not idempotent: a second update with the same gradient is another step.
void blocksTwice(JobView& view, Edits& edits) {
  for (auto op : opsIn<dist::ForeachBlockOp>(view))
    if (op->getNumResults() == 0)
      edits.add(op, "runs twice", [op]() mutable {
        mlir::OpBuilder builder(op);
        builder.clone(*op);
      });
}

}  // namespace

std::vector<Kind> serverKinds() {
  const char* group = "server";
  using dist::PullOp, dist::PushOp;
  return {
      {group, "push-table", "a gradient goes to another table", Place::Main, otherTable<PushOp>},
      {group, "push-dropped", "a gradient is not pushed", Place::Main, pushDropped},
      {group, "push-doubled", "a gradient is pushed twice", Place::Main, pushDoubled},
      {group, "push-merge", "trainers' gradients are merged otherwise", Place::Main, pushMerge},
      {group, "push-scaled", "a multiple of a gradient is pushed", Place::Main, pushScaled},
      {group, "push-other", "another value is pushed", Place::Main, pushOther},
      {group, "phase-dropped", "a phase never ends", Place::Main, phaseDropped},
      {group, "phase-doubled", "a phase ends twice", Place::Main, phaseDoubled},
      {group, "phase-early", "a phase ends before its last request", Place::Main, phaseEarly},
      {group, "phase-late", "a phase ends after a request of the next one", Place::Main, phaseLate},
      {group, "pull-table", "another variable is pulled", Place::Main, otherTable<PullOp>},
      {group, "pull-unused", "what is pulled is not stored", Place::Main, pullUnused},
      {group, "pull-scaled", "a multiple of what is pulled is stored", Place::Main, pullScaled},
      {group, "startup-pull-table", "another variable is pulled at the start", Place::Startup,
       otherTable<PullOp>},
      {group, "startup-pull-unused", "what is pulled at the start is not stored", Place::Startup,
       pullUnused},
      {group, "startup-phase-dropped", "the start never ends", Place::Startup, phaseDropped},
      {group, "merged-other", "the server updates with another gradient", Place::Main, mergedOther},
      {group, "merged-scaled", "the server takes a multiple of the gradient", Place::Main,
       mergedScaled},
      {group, "blocks-dropped", "a variable of the server is not updated", Place::Main,
       blocksDropped},
      {group, "blocks-twice", "a variable of the server is updated twice", Place::Main,
       blocksTwice},
  };
}

}  // namespace dtranspile::mutate
