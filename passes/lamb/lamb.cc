// adam -> lamb. A semantic pass: after keep-source, before form-job.
#include "passes/lamb/pass.h"
#include "passes/support/changes.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_LAMB
#include "passes/lamb/pass.h.inc"

namespace {

// What adam does that lamb does not; empty where there is nothing.
std::string whyNot(pd::OpView update) {
  for (llvm::StringRef slot : {"Beta1Tensor", "Beta2Tensor", "EpsilonTensor"})
    if (update.inputCount(slot) > 0) return slot.str() + ": lamb takes a number, no tensor";
  if (update.getBool("use_global_beta_pow"))
    return "use_global_beta_pow: lamb hands on the powers of its own parameter";
  return "";
}

class Lamb : public impl::LambBase<Lamb> {
 public:
  using LambBase::LambBase;

  // Every update must be an adam that lamb can stand for; one that cannot is an error, since a
  // program with two optimizers is not what was asked for.
  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main)) return signalPassFailure();
    mlir::FailureOr<std::vector<pd::OpView>> updates = updatesOfType(*main, "adam", "lamb");
    if (mlir::failed(updates)) return signalPassFailure();
    Exclusions excluded(lamb_exclude_from_weight_decay, Exclusions::Match::AtEnd);
    pd::Declarations declarations;
    bool good = true;
    for (pd::OpView update : *updates) {
      const llvm::StringRef parameter = pd::nameOf(update.input("Param"));
      if (const std::string why = whyNot(update); !why.empty()) {
        update.operation()->emitError() << "lamb: parameter '" << parameter << "': " << why;
        good = false;
        continue;
      }
      replace(update, excluded.has(parameter) ? 0.0 : lamb_weight_decay.getValue(),
              isOfVersion2(*main), declarations);
    }
    if (!good) return signalPassFailure();
    excluded.reportUnused(*main, "lamb_exclude_from_weight_decay");
    declareChange(getOperation(),
                  Change(&getContext(), "lamb")
                      .set("lamb_weight_decay", lamb_weight_decay.getValue())
                      .set("lamb_exclude_from_weight_decay",
                           llvm::ArrayRef<std::string>(lamb_exclude_from_weight_decay)));
  }

 private:
  // The same variables in the same slots: moments and powers go on as they are.
  void replace(pd::OpView update, double decay, bool version2, pd::Declarations& declarations) {
    mlir::Builder builder(&getContext());
    mlir::NamedAttrList attributes;
    attributes.set("weight_decay", builder.getF32FloatAttr(static_cast<float>(decay)));
    for (llvm::StringRef name : {"beta1", "beta2", "epsilon"})
      attributes.set(name, builder.getF32FloatAttr(static_cast<float>(update.getFloat(name))));
    if (mlir::Attribute value = update.attr("multi_precision"))
      attributes.set("multi_precision", value);
    std::vector<llvm::StringRef> outputs = {"ParamOut", "Moment1Out", "Moment2Out"};
    // The op of 1.x has no such outputs and does not read the powers either.
    if (version2) outputs.insert(outputs.end(), {"Beta1PowOut", "Beta2PowOut", "MasterParamOut"});
    else forgetPowers(update);
    replaceUpdate(update, "lamb",
                  {"Param", "Grad", "LearningRate", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow",
                   "MasterParam", "SkipUpdate"},
                  outputs, attributes, declarations);
  }

  // The powers keep the value that they have.
  static void forgetPowers(pd::OpView update) {
    for (auto [in, out] :
         {std::pair("Beta1Pow", "Beta1PowOut"), std::pair("Beta2Pow", "Beta2PowOut")})
      if (mlir::Value handedOn = update.output(out)) {
        for (mlir::Operation* user : llvm::make_early_inc_range(handedOn.getUsers()))
          if (llvm::isa<pd::SetOp>(user)) user->erase();
        handedOn.replaceAllUsesWith(update.input(in));
      }
  }
};

}  // namespace
}  // namespace dtranspile::passes
