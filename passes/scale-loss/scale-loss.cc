// Puts 1/N after the seed of the backward part. Before reduce-gradients.
#include "passes/scale-loss/pass.h"
#include "passes/support/relations.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SCALELOSS
#include "passes/scale-loss/pass.h.inc"

namespace {

class ScaleLoss : public impl::ScaleLossBase<ScaleLoss> {
 public:
  using ScaleLossBase::ScaleLossBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (scale_strategy != "avg" && scale_strategy != "sum" && scale_strategy != "reference") {
      getOperation().emitError("scale-loss: scale_strategy is '")
          << scale_strategy.getValue() << "'; avg, sum and reference are known";
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
      factor = lossFactor(loss.operation(), *job);
    if (mlir::failed(factor)) return signalPassFailure();
    if (*factor == 1 && job->ranks > 1) return;
    if (scale_strategy == "sum") {
      // What is not divided is as many times the reference's.
      const auto times = verify::Rational::ofFloat(1 / *factor);
      if (!times.isOne())
        addContract(getOperation(), verify::kGradientSumTag, verify::gradientSumText(times), {});
      return;
    }
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
