// Puts 1/N behind the seed of the backward part. Before reduce-gradients.
#include "passes/scale-loss/pass.h"
#include "passes/support/relations.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SCALELOSS
#include "passes/scale-loss/pass.h.inc"

namespace {

// A term that is scaled otherwise than the others stands among those of a sum on the way to the
// value: no factor makes gradients right.
bool addsUnlikeTerms(const verify::Store& store, mlir::Value value) {
  llvm::SmallPtrSet<const void*, 16> seen;
  while (value && seen.insert(value.getAsOpaquePointer()).second) {
    const verify::Loss* why = store.lossOf(value);
    if (!why) return false;
    if (why->wrong) return true;
    value = why->operand;
  }
  return false;
}

// The loss l has the relation Σ_c l_c = k·l, or l_c = k·l, along an axis; gradients are summed over
// the ranks, and become k times the reference's, or k·n times. The factor takes that back, as far
// as it comes from `axes`.
mlir::FailureOr<double> factorOf(mlir::Operation* loss, const JobOnAxes& job) {
  const MainQuestion question(job);
  const verify::Store store = verify::analyse(*question);
  const verify::Axes& all = store.axes();
  const verify::AxisSet own = axesOf(job, all);
  const verify::Reading& reading = store.of(loss->getResult(0)).whole;
  if (!reading.known && addsUnlikeTerms(store, loss->getResult(0)))
    return loss->emitError(
        "the loss adds a sum over the batch and a term of another kind (a mean, or one that "
        "does not depend on the batch): no "
        "one factor makes summed gradients those of one device; make all terms means, or "
        "choose scale_strategy reference");
  // Where nothing is known it is what the framework takes the loss for: a value of each share, and
  // gradients are averaged. Verification will not know more.
  if (!reading.known) return 1.0 / static_cast<double>(job.ranks);
  int64_t once = 1;             // ranks that each have the gradient of the whole, or of a share
  int64_t cut = 1, others = 1;  // ranks that have a term each: along own axes, along others
  for (unsigned axis = 0; axis < all.count(); ++axis) {
    const verify::State& state = reading.states[axis];
    const bool term = state.isSplit() || (state.isPartial() && state.reduce == dist::Reduce::Sum);
    if (term) (own.test(axis) ? cut : others) *= all.sizes[axis];
    else if (own.test(axis)) once *= all.sizes[axis];
  }
  const double scale = static_cast<double>(reading.scale.numerator()) /
                       static_cast<double>(reading.scale.denominator());
  // A sum over the batch, a mean, or a factor of which it is not known which axis it comes from.
  if (reading.scale.isOne()) return 1.0 / static_cast<double>(once);
  if (reading.scale == verify::Rational(cut) * verify::Rational(others))
    return 1.0 / static_cast<double>(once * cut);
  if (others == 1) return 1.0 / (scale * static_cast<double>(once));
  return loss->emitError("the loss is ")
         << reading.scale.text()
         << " times the reference's when its parts are added up, and has parts along axes that "
            "the pass is not told of too: name all of them in axes";
}

class ScaleLoss : public impl::ScaleLossBase<ScaleLoss> {
 public:
  using ScaleLossBase::ScaleLossBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (scale_strategy != "avg" && scale_strategy != "reference") {
      getOperation().emitError("scale-loss: scale_strategy is '")
          << scale_strategy.getValue() << "'; avg and reference are known";
      return signalPassFailure();
    }
    std::vector<pd::OpView> seeds;
    pd::OpView loss(nullptr);
    for (mlir::Operation& op : *job->main.getBodyBlock()) {
      if (!pd::OpView::isFrameworkOp(&op) || !(pd::OpView(&op).role() & pd::kLoss) ||
          op.getNumResults() == 0)
        continue;
      if (pd::OpView(&op).role() & pd::kBackward) seeds.push_back(pd::OpView(&op));
      else if (!loss.operation()) loss = pd::OpView(&op);
    }
    if (seeds.empty()) {
      job->main.emitError(
          "no op has the roles Backward and Loss: nothing seeds the gradients; is this a training "
          "program?");
      return signalPassFailure();
    }
    mlir::FailureOr<double> factor = 1.0 / static_cast<double>(job->ranks);
    if (scale_strategy != "reference" && loss.operation())
      factor = factorOf(loss.operation(), *job);
    if (mlir::failed(factor)) return signalPassFailure();
    if (*factor == 1 && job->ranks > 1) return;
    pd::Declarations declarations;
    for (pd::OpView seed : seeds) scaleBehind(seed, *factor, declarations);
  }

 private:
  static void scaleBehind(pd::OpView seed, double factor, pd::Declarations& declarations) {
    mlir::Value value = seed.operation()->getResult(0);
    mlir::OpBuilder builder(seed.operation()->getContext());
    builder.setInsertionPointAfter(seed.operation());
    mlir::Value scaled = scale(builder, seed.operation()->getLoc(), value, factor,
                               pd::nameOf(value), pd::kBackward, declarations);
    value.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
  }
};

}  // namespace
}  // namespace dtranspile::passes
