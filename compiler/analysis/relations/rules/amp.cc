// Relation rules: family `amp`. Predicates of the update must be equal on all ranks. Notation:
// rule.h.
#include <optional>

#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"
#include "dialects/dist/dist.h"

namespace dtranspile::verify {
namespace {

// Whether a value is the flag, as it is, summed up over ranks, or turned round.
bool followsFrom(mlir::Value value, mlir::Value flag) {
  while (value && value != flag) {
    mlir::Operation* op = value.getDefiningOp();
    if (auto all = llvm::dyn_cast_or_null<dist::AllReduceOp>(op))
      value = all.getInputs()[llvm::cast<mlir::OpResult>(value).getResultNumber()];
    else if (op && pd::OpView::isFrameworkOp(op) &&
             (pd::OpView(op).type() == "logical_not" || pd::OpView(op).type() == "cast"))
      value = pd::OpView(op).input("X");
    else return false;
  }
  return value != nullptr;
}

// Everything that takes the value, be it in another precision, looks at the flag: it makes zeros of
// gradients where one was set, or is left out.
bool isGuarded(mlir::Value gradient, mlir::Value flag) {
  if (gradient.use_empty()) return false;
  return llvm::all_of(gradient.getUsers(), [&](mlir::Operation* user) {
    if (!pd::OpView::isFrameworkOp(user)) return false;
    const pd::OpView taker(user);
    if (taker.type() == "cast") return isGuarded(taker.output("Out"), flag);
    if (taker.type() == "update_loss_scaling")
      return followsFrom(taker.input("FoundInfinite"), flag);
    return taker.type() == "conditional_block" && followsFrom(taker.input("Cond"), flag);
  });
}

// From the first gradient on in which something is not finite the op multiplies by zero, whichever
// element that is: parts would be another zero than the whole's, unless nobody reads it.
bool isGuarded(const pd::OpView& op) {
  mlir::Value found = op.output("FoundInfinite");
  return found && llvm::all_of(op.outputs("Out"),
                               [&](mlir::Value out) { return !out || isGuarded(out, found); });
}

// The clause of gradients: each element of Out[i] is that of X[i], by numbers that are the same for
// all.
void giveEach(RuleContext& context, const Clause& clause) {
  const pd::OpView& op = context.op();
  for (unsigned i = 0, n = op.inputCount("X"); i < n; ++i) {
    mlir::Value x = op.input("X", i), out = i < op.outputCount("Out") ? op.output("Out", i) : x;
    if (!x || !out) continue;
    Form form;
    form.terms.push_back({x, ownLabels(x), Use::Value});
    for (const SlotUse& input : clause.inputs)
      for (mlir::Value number : op.inputs(input.slot))
        if (number && input.slot != "X")
          form.terms.push_back({number, wholeLabels(number), Use::Value});
    form.result = ownLabels(out);
    form.flat = true;
    context.result("Out", i, form);
  }
}

// Both hold; what is replicated says nothing against the other. False where the two do not join.
bool join(Reading& mine, const Reading& other) {
  if (!mine.known || !other.known) return mine = {}, false;
  for (auto [own, theirs] : llvm::zip(mine.states, other.states)) {
    if (own.isReplicated()) own = theirs;
    else if (!theirs.isReplicated() && !(own == theirs)) return mine = {}, false;
  }
  return true;
}

// Whether one element of all gradients is not finite. A rank looks at its parts, along whatever dim
// each gradient is cut, or flat (the pad is zero, and finite): what it finds in any of them is a
// term of the answer.
void checkFinite(RuleContext& context) {
  const pd::OpView& op = context.op();
  // One without Out looks at gradients, and takes nothing back.
  if (op.outputCount("Out") > 0) {
    if (isGuarded(op)) giveEach(context, context.clauses()[0]);
    else giveWhole(context, context.clauses());
  }
  mlir::Value found = op.output("FoundInfinite"), scale = op.input("Scale");
  if (!found || !scale) return;
  std::optional<Relation> all;
  for (mlir::Value x : op.inputs("X")) {
    if (!x) continue;
    Form form;
    form.terms.push_back({x, ownLabels(x), Use::Value});
    form.terms.push_back({scale, wholeLabels(scale), Use::Value});
    form.result = wholeLabels(found);
    form.fold = Fold::Or;
    form.flat = true;
    context.result("FoundInfinite", form);
    bool joined = true;
    context.adjust("FoundInfinite", [&](Relation& one) {
      if (all) {
        joined = join(one.whole, all->whole);
        join(one.parts, all->parts);
        one.addTags(all->tags);
        one.perShare |= all->perShare;
      }
      joined &= one.whole.known;
      all = one;
    });
    if (!joined) return;
  }
}

void updateScale(RuleContext& context) {
  giveEach(context, context.clauses()[0]);
  giveWhole(context, llvm::ArrayRef<Clause>(context.clauses()).drop_front());
}

const RuleRow kRows[] = {
    {"check_finite_and_unscale", checkFinite, "X, Scale:w -> Out, FoundInfinite"},
    {"update_loss_scaling", updateScale,
     "X, FoundInfinite:w, StopUpdate:w -> Out; "
     "FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps, StopUpdate, $LossScaling -> "
     "LossScaling, OutGoodSteps, OutBadSteps",
     "incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio, "
     "stop_update"},
};

}  // namespace

llvm::ArrayRef<RuleRow> ampRules() { return kRows; }

}  // namespace dtranspile::verify
