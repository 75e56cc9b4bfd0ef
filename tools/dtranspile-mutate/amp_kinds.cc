// Mixed precision that was made, or kept, wrongly: casts, the scale, what is looked at, and what a
// step that overflows leaves out.
#include "dialects/pd/declarations.h"
#include "mlir/IR/IRMapping.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// By the framework's name of the op, since mixed precision is made of framework ops.
std::vector<pd::OpView> opsOf(JobView& view, llvm::StringRef type) {
  std::vector<pd::OpView> found;
  for (mlir::Operation* op : view.framework)
    if (pd::OpView(op).type() == type) found.emplace_back(op);
  return found;
}

bool isHalf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && (type.getElementType().isF16() || type.getElementType().isBF16());
}

// The branches that a check decides, by the value of their condition.
std::vector<pd::OpView> skips(JobView& view) {
  std::vector<pd::OpView> found;
  if (opsOf(view, "check_finite_and_unscale").empty()) return found;
  for (pd::OpView op : opsOf(view, "conditional_block"))
    if (op.role() & pd::kOptimize) found.push_back(op);
  return found;
}

// What a branch stores, nested blocks included.
std::vector<pd::SetOp> setsIn(pd::OpView branch) {
  std::vector<pd::SetOp> sets;
  branch.operation()->walk([&](pd::SetOp set) { sets.push_back(set); });
  return sets;
}

// logical_not of the flag, declared as part of the update so that role checks pass it.
mlir::Value inverted(mlir::OpBuilder& builder, mlir::Value flag) {
  return pd::Declarations()
      .create(builder, flag.getLoc(), "logical_not", {{"X", {flag}}},
              {{"Out",
                {{pd::Declarations().freshName(builder.getInsertionBlock(), "inverted"),
                  flag.getType()}}}},
              {}, pd::kOptimize)
      .output("Out");
}

// What was cast up in front of it is used as it was rounded down.
void roundedTwice(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "cast")) {
    mlir::Value x = op.input("X"), out = op.output("Out");
    if (x.hasOneUse()) continue;  // nobody takes it in full
    if ((op.role() & pd::kOptimize) || !isFloat(x) || isHalf(x) || !isHalf(out)) continue;
    edits.add(
        op.operation(), quoted(x) + " is rounded for all its readers", [op, x, out]() mutable {
          mlir::OpBuilder builder(op.operation()->getContext());
          builder.setInsertionPointAfter(op.operation());
          mlir::Type element = llvm::cast<mlir::RankedTensorType>(x.getType()).getElementType();
          Readers readers(x);
          mlir::Value rounded = cast(builder, out, element);
          readers.read(rounded);
          op.setInput("X", 0, x);
        });
  }
}

// Readers then get a value of the other type: the types of the program no longer fit, which a
// verifier of types ought to see before any proof.
void castOfHalfDropped(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "cast"))
    if (isFloat(op.input("X")) && isHalf(op.input("X")) != isHalf(op.output("Out")))
      edits.add(op.operation(), "the cast is left out", [op]() mutable {
        op.output("Out").replaceAllUsesWith(op.input("X"));
        op.operation()->erase();
      });
}

// Products with the scale in front of the backward part.
std::vector<pd::OpView> scaledSeeds(JobView& view) {
  std::vector<pd::OpView> found;
  if (opsOf(view, "check_finite_and_unscale").empty()) return found;
  for (pd::OpView op : opsOf(view, "elementwise_mul"))
    if (op.role() & pd::kBackward) found.push_back(op);
  return found;
}

// The scale is taken back from all gradients, and was never given: they are too small by the scale.
void seedNotScaled(JobView& view, Edits& edits) {
  for (pd::OpView op : scaledSeeds(view))
    edits.add(op.operation(), "the loss is not scaled",
              [op]() mutable { op.output("Out").replaceAllUsesWith(op.input("X")); });
}

void seedScaledTwice(JobView& view, Edits& edits) {
  for (pd::OpView op : scaledSeeds(view))
    edits.add(op.operation(), "the loss is scaled twice", [op]() mutable {
      mlir::OpBuilder builder(op.operation());
      builder.setInsertionPointAfter(op.operation());
      mlir::Operation* again = builder.clone(*op.operation());
      op.output("Out").replaceAllUsesWith(again->getResult(0));
      pd::OpView(again).setInput("X", 0, op.output("Out"));
    });
}

// One gradient of a check at a time, so that the others hide nothing.
void notUnscaled(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "check_finite_and_unscale"))
    for (unsigned i = 0; i < op.outputCount("Out"); ++i)
      edits.add(op.operation(), quoted(op.output("Out", i)) + " keeps the scale",
                [op, i]() { op.output("Out", i).replaceAllUsesWith(op.input("X", i)); });
}

void otherScale(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "check_finite_and_unscale"))
    edits.add(op.operation(), "another scale is taken back", [op]() mutable {
      mlir::OpBuilder builder(op.operation());
      op.setInput("Scale", 0, scaled(builder, op.input("Scale"), 2));
    });
}

// The scale is taken back from it beside the check, which looks at zeros instead.
void notLookedAt(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "check_finite_and_unscale"))
    for (unsigned i = 0; op.inputCount("X") > 1 && i < op.inputCount("X"); ++i) {
      mlir::Value x = op.input("X", i), out = op.output("Out", i);
      if (!isStatic(x)) continue;
      edits.add(op.operation(), quoted(x) + " is not looked at", [op, i, x, out]() mutable {
        mlir::OpBuilder builder(op.operation());
        auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
        op.setInput("X", i, zeros(builder, x.getLoc(), type.getShape(), type.getElementType()));
        const std::string name =
            pd::Declarations().freshName(builder.getInsertionBlock(), "unseen");
        out.replaceAllUsesWith(
            pd::Declarations()
                .create(builder, x.getLoc(), "elementwise_div",
                        {{"X", {x}}, {"Y", {op.input("Scale")}}}, {{"Out", {{name, type}}}},
                        {builder.getNamedAttr("axis", builder.getI32IntegerAttr(-1))},
                        pd::kOptimize)
                .output("Out"));
      });
    }
}

// The rank's own term, in front of the sum over the ranks.
void lookedAtBeforeReduced(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "check_finite_and_unscale"))
    for (unsigned i = 0; i < op.inputCount("X"); ++i) {
      mlir::Value taken = op.input("X", i);
      auto from = taken.getDefiningOp();
      const bool casts =
          from && pd::OpView::isFrameworkOp(from) && pd::OpView(from).type() == "cast";
      mlir::Value wire = casts ? pd::OpView(from).input("X") : taken;
      for (mlir::Operation* collective : view.collectives)
        for (auto [k, result] : llvm::enumerate(resultsOf(collective)))
          if (result == wire && collective->getNumOperands() > k)
            edits.add(op.operation(), quoted(taken) + " is looked at before it is reduced",
                      [op, i, casts, from, own = collective->getOperand(k)]() mutable {
                        if (!casts) return op.setInput("X", i, own);
                        mlir::OpBuilder builder(op.operation());
                        mlir::Operation* again = builder.clone(*from);
                        pd::OpView(again).setInput("X", 0, own);
                        op.setInput("X", i, again->getResult(0));
                      });
    }
}

// The condition becomes not(0): the update is made with infinite gradients, too.
void neverSkipped(JobView& view, Edits& edits) {
  for (pd::OpView op : skips(view))
    edits.add(op.operation(), "the branch is taken in every step", [op]() mutable {
      mlir::OpBuilder builder(op.operation());
      auto type = llvm::cast<mlir::RankedTensorType>(op.input("Cond").getType());
      mlir::Value no =
          zeros(builder, op.operation()->getLoc(), type.getShape(), type.getElementType());
      op.setInput("Cond", 0, inverted(builder, no));
    });
}

void skipInverted(JobView& view, Edits& edits) {
  for (pd::OpView op : skips(view))
    edits.add(op.operation(), "the branch is taken in the other steps", [op]() mutable {
      mlir::OpBuilder builder(op.operation());
      op.setInput("Cond", 0, inverted(builder, op.input("Cond")));
    });
}

// A variable that a step which overflows changes all the same.
void stateNotSkipped(JobView& view, Edits& edits) {
  for (pd::OpView branch : skips(view))
    for (pd::SetOp set : setsIn(branch)) {
      mlir::Operation* maker = set.getValue().getDefiningOp();
      if (!maker || maker->getParentOp() != branch.operation()) continue;
      edits.add(branch.operation(), "`" + set.getVar().str() + "` is set in every step",
                [branch, set, maker]() {
                  mlir::OpBuilder builder(branch.operation());
                  mlir::IRMapping map;
                  mlir::Block& block = branch.operation()->getRegion(0).front();
                  for (auto [argument, value] :
                       llvm::zip(block.getArguments(), branch.inputs("$capture")))
                    map.map(argument, value);
                  for (mlir::Operation& op : block)
                    if (!llvm::isa<pd::SetOp, pd::YieldOp, pd::DeclOp>(op) &&
                        (&op == maker || op.isBeforeInBlock(maker)))
                      builder.clone(op, map);
                  builder.clone(*set, map);
                  pd::SetOp(set).erase();
                });
    }
}

// A branch that hands nothing on without one of the variables that it sets.
void stateLeftOut(JobView& view, Edits& edits) {
  for (pd::OpView branch : skips(view))
    for (pd::SetOp set : setsIn(branch))
      edits.add(branch.operation(), "`" + set.getVar().str() + "` is not set in the branch",
                [set]() { pd::SetOp(set).erase(); });
}

// The scale, or one of its counters, is computed and not stored: the next step begins with the old
// one.
void scaleNotSet(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "update_loss_scaling"))
    for (mlir::Value result : op.operation()->getResults())
      for (mlir::Operation* user : result.getUsers())
        if (auto set = llvm::dyn_cast<pd::SetOp>(user))
          edits.add(op.operation(), "`" + set.getVar().str() + "` stays",
                    [set]() mutable { set.erase(); });
}

// Both are int32 of one element, so that no type shows it.
void countersSwapped(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "update_loss_scaling"))
    edits.add(op.operation(), "good and bad steps are swapped", [op]() mutable {
      mlir::Value good = op.input("InGoodSteps"), bad = op.input("InBadSteps");
      op.setInput("InGoodSteps", 0, bad);
      op.setInput("InBadSteps", 0, good);
    });
}

void otherRatio(JobView& view, Edits& edits) {
  for (pd::OpView op : opsOf(view, "update_loss_scaling"))
    for (llvm::StringRef name :
         {"incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf"})
      if (mlir::Attribute other = perturbed(op.attr(name)))
        edits.add(op.operation(), name.str() + " is another number",
                  [op, name, other]() mutable { op.setAttr(name, other); });
}

// The start-up's constant is multiplied by 4; the scale cancels out of every update that does not
// overflow, so that only a proof of initial values can see it.
void otherInitialScale(JobView& view, Edits& edits) {
  for (auto set : view.program.getBodyBlock()->getOps<pd::SetOp>()) {
    mlir::Operation* maker = set.getValue().getDefiningOp();
    if (!set.getVar().starts_with("loss_scaling") || !maker) continue;
    edits.add(maker, "begins with another scale", [maker]() {
      pd::OpView op(maker);
      op.setAttr("value",
                 mlir::Builder(maker->getContext()).getF32FloatAttr(op.getFloat("value") * 4));
    });
  }
}

}  // namespace

std::vector<Kind> ampKinds() {
  const char* amp = "amp";
  return {
      {amp, "amp-rounded", "a value is rounded for readers that take it in full", Place::Main,
       roundedTwice},
      {amp, "amp-cast-dropped", "a cast is left out", Place::Main, castOfHalfDropped},
      {amp, "amp-loss-unscaled", "the loss is not scaled", Place::Main, seedNotScaled},
      {amp, "amp-loss-scaled-twice", "the loss is scaled twice", Place::Main, seedScaledTwice},
      {amp, "amp-not-unscaled", "a gradient keeps the scale", Place::Main, notUnscaled},
      {amp, "amp-other-scale", "another scale is taken back", Place::Main, otherScale},
      {amp, "amp-not-looked-at", "a gradient is not looked at", Place::Main, notLookedAt},
      {amp, "amp-looked-at-early", "a gradient is looked at before it is reduced", Place::Main,
       lookedAtBeforeReduced},
      {amp, "amp-never-skipped", "a branch is taken in every step", Place::Main, neverSkipped},
      {amp, "amp-skip-inverted", "a branch is taken in the other steps", Place::Main, skipInverted},
      {amp, "amp-state-not-skipped", "a variable is set in steps that overflow", Place::Main,
       stateNotSkipped},
      {amp, "amp-state-left-out", "a branch does not set a variable", Place::Main, stateLeftOut},
      {amp, "amp-scale-not-set", "the scale or a counter stays", Place::Main, scaleNotSet},
      {amp, "amp-counters-swapped", "good and bad steps are swapped", Place::Main, countersSwapped},
      {amp, "amp-other-ratio", "the scale moves otherwise", Place::Main, otherRatio},
      {amp, "amp-other-start", "the scale begins otherwise", Place::Startup, otherInitialScale},
  };
}

}  // namespace dtranspile::mutate
