// momentum -> lars_momentum. A semantic pass: after keep-source, before form-job.
#include "passes/lars/pass.h"
#include "passes/support/changes.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_LARS
#include "passes/lars/pass.h.inc"

namespace {

// What momentum does that lars_momentum does not; null where there is nothing.
const char* whyNot(pd::OpView update) {
  if (update.getBool("use_nesterov")) return "use_nesterov: lars_momentum has no such step";
  if (!update.getString("regularization_method").empty())
    return "regularization_method: lars decays by lars_weight_decay; save the program without";
  return nullptr;
}

class Lars : public impl::LarsBase<Lars> {
 public:
  using LarsBase::LarsBase;

  // Every update must be a momentum that lars_momentum can stand for. Parameters that are excluded
  // keep theirs, as the framework's LarsMomentumOptimizer has it.
  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main)) return signalPassFailure();
    mlir::FailureOr<std::vector<pd::OpView>> updates = updatesOfType(*main, "momentum", "lars");
    if (mlir::failed(updates)) return signalPassFailure();
    Exclusions excluded(lars_exclude_from_weight_decay, Exclusions::Match::Anywhere);
    pd::Declarations declarations;
    bool good = true;
    for (pd::OpView update : *updates) {
      const llvm::StringRef parameter = pd::nameOf(update.input("Param"));
      if (excluded.has(parameter)) continue;
      if (const char* why = whyNot(update)) {
        update.operation()->emitError() << "lars: parameter '" << parameter << "': " << why;
        good = false;
        continue;
      }
      replace(update, isOfVersion2(*main), declarations);
    }
    if (!good) return signalPassFailure();
    excluded.reportUnused(*main, "lars_exclude_from_weight_decay");
    declareChange(getOperation(),
                  Change(&getContext(), "lars")
                      .set("lars_coeff", lars_coeff.getValue())
                      .set("lars_weight_decay", lars_weight_decay.getValue())
                      .set("lars_epsilon", lars_epsilon.getValue())
                      .set("lars_exclude_from_weight_decay",
                           llvm::ArrayRef<std::string>(lars_exclude_from_weight_decay)));
  }

 private:
  void replace(pd::OpView update, bool version2, pd::Declarations& declarations) {
    mlir::Builder builder(&getContext());
    const auto number = [&](double value) {
      return builder.getF32FloatAttr(static_cast<float>(value));
    };
    mlir::NamedAttrList attributes;
    attributes.set("mu", number(update.getFloat("mu")));
    attributes.set("lars_coeff", number(lars_coeff));
    // Ops of 1.x take one number, and have no epsilon.
    if (version2) {
      attributes.set("lars_weight_decay",
                     builder.getDenseF32ArrayAttr({static_cast<float>(lars_weight_decay)}));
      attributes.set("epsilon", number(lars_epsilon));
    } else {
      attributes.set("lars_weight_decay", number(lars_weight_decay));
      if (lars_epsilon != 0) attributes.set("epsilon", number(lars_epsilon));
    }
    for (llvm::StringRef name : {"multi_precision", "rescale_grad"})
      if (mlir::Attribute value = update.attr(name)) attributes.set(name, value);
    replaceUpdate(update, "lars_momentum",
                  {"Param", "Grad", "Velocity", "LearningRate", "MasterParam"},
                  {"ParamOut", "VelocityOut", "MasterParamOut"}, attributes, declarations);
  }
};

}  // namespace
}  // namespace dtranspile::passes
