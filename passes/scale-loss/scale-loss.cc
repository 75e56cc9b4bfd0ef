// Puts 1/N after the seed of the backward part. Before reduce-gradients.
#include "passes/scale-loss/pass.h"
#include "passes/support/relations.h"
#include "passes/support/seeds.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SCALELOSS
#include "passes/scale-loss/pass.h.inc"

namespace {

class ScaleLoss : public impl::ScaleLossBase<ScaleLoss> {
 public:
  using ScaleLossBase::ScaleLossBase;

  // With N equal shares the gradient of the mean over the batch is the mean of those of the shares:
  // the seed is divided by N, once. Of a loss that is a sum, nothing is divided (lossFactor says
  // which it is); with `reference` the factor is always 1/N, as the framework has it, and with
  // `sum` the gradients stay N times too large, which the job declares.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (scale_strategy != "avg" && scale_strategy != "sum" && scale_strategy != "reference") {
      getOperation().emitError("scale-loss: scale_strategy is '")
          << scale_strategy.getValue() << "'; avg, sum and reference are known";
      return signalPassFailure();
    }
    const std::vector<pd::OpView> seeds = seedsOf(job->main);
    if (seeds.empty()) {
      job->main.emitError(
          "no op has the roles Backward and Loss: nothing seeds the gradients; is this a training "
          "program?");
      return signalPassFailure();
    }
    mlir::FailureOr<double> factor = 1.0 / static_cast<double>(job->ranks);
    if (mlir::Operation* loss = lossOf(job->main); loss && scale_strategy != "reference")
      factor = lossFactor(loss, *job);
    if (mlir::failed(factor)) return signalPassFailure();
    if (*factor == 1 && job->ranks > 1) return;
    if (scale_strategy == "sum") {
      // What is not divided is as many times the reference's.
      const auto times = verify::Rational::ofFloat(1 / *factor);
      if (!times.isOne())
        addContract(getOperation(), verify::kGradientSumTag, verify::gradientSumText(times), {});
      return;
    }
    scaleSeeds(seeds, *factor);
  }
};

}  // namespace
}  // namespace dtranspile::passes
