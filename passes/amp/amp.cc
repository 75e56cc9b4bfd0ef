// Mixed precision. A semantic pass: after keep-source, before lars, lamb, gradient-merge and
// form-job. Four parts: casts (classify.h, rewrite.h), parameters in half precision (masters.h),
// loss scaling (scaling.h), steps that change nothing (skip.h, apart.h).
#include "dialects/pd/op_table.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"
#include "passes/amp/apart.h"
#include "passes/amp/masters.h"
#include "passes/amp/pass.h"
#include "passes/amp/rewrite.h"
#include "passes/amp/scaling.h"
#include "passes/amp/skip.h"
#include "passes/support/changes.h"
#include "passes/support/state.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_AMP
#include "passes/amp/pass.h.inc"

namespace {

// Mixed precision that the program has already.
mlir::LogicalResult checkPlain(pd::ProgramOp main) {
  const auto found = main.walk([&](mlir::Operation* op) {
    const bool scales =
        pd::OpView::isFrameworkOp(op) && (pd::OpView(op).type() == "check_finite_and_unscale" ||
                                          pd::OpView(op).type() == "update_loss_scaling");
    const bool half =
        llvm::any_of(op->getResults(), [](mlir::Value value) { return isHalf(elementOf(value)); });
    if (!scales && !half) return mlir::WalkResult::advance();
    op->emitError(
        "amp: the program has mixed precision already; leave amp out, or save the program "
        "without it");
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(found.wasInterrupted());
}

class Amp : public impl::AmpBase<Amp> {
 public:
  using AmpBase::AmpBase;

  // Options are checked before anything is changed. The parts run in this order because each needs
  // what the one before has made: casts tell which parameters are taken in half precision, those
  // get their float32 copies, and scaling finds gradients where they are complete and in float32.
  // With `apart` (for a pipeline) gradients are completed in float32 first.
  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main) || mlir::failed(checkPlain(*main)) || mlir::failed(checkLists(*main)))
      return signalPassFailure();
    if (amp_dtype != "float16" && amp_dtype != "bfloat16") {
      main->emitError("amp: amp_dtype is '") << amp_dtype << "'; float16 and bfloat16 are known";
      return signalPassFailure();
    }
    if (use_pure_fp16 && (use_pure_bf16 || amp_dtype == "bfloat16")) {
      main->emitError(
          "amp: use_pure_fp16 is of float16; leave use_pure_bf16 and amp_dtype=bfloat16 out, or "
          "it");
      return signalPassFailure();
    }
    if (scales() && !(init_loss_scaling > 0)) {
      main->emitError("amp: init_loss_scaling is ")
          << init_loss_scaling.getValue() << "; a factor of the loss is above 0";
      return signalPassFailure();
    }
    const DType half = *DTypeFromName(dtype());
    auto version = (*main)->getAttrOfType<mlir::IntegerAttr>("version");
    const OpLists lists(version ? version.getInt() : 0, half,
                        llvm::ArrayRef<std::string>(custom_white_list),
                        llvm::ArrayRef<std::string>(custom_black_list));
    llvm::StringSet<> blackNames;
    for (const std::string& name : custom_black_varnames) blackNames.insert(name);
    const AmpLevel level = !isPure()        ? AmpLevel::Lists
                           : use_fp16_guard ? AmpLevel::Guarded
                                            : AmpLevel::Pure;
    const Classified classified = classify(*main, lists, blackNames, level);
    if (llvm::none_of(classified.forward,
                      [](const auto& entry) { return entry.second == Precision::Half; }))
      warnOfNone(*main, level);
    pd::Declarations declarations;
    const RewriteOptions options = {pd::elementType(&getContext(), half), scales()};
    if (mlir::failed(rewriteInto(*main, classified, options, declarations)) ||
        (isPure() && mlir::failed(keepParameters(*main, options.half, declarations))))
      return signalPassFailure();
    if (apart) completeInFloat32(*main);
    if (scales() && mlir::failed(scaleAndSkip(*main, classified, declarations)))
      return signalPassFailure();
    declare();
  }

 private:
  // bfloat16 has the exponents of float32: gradients neither overflow nor vanish sooner, and
  // nothing is scaled. A static factor of 1 would be no scaling either.
  bool scales() const {
    return dtype() == "float16" && (use_dynamic_loss_scaling || init_loss_scaling != 1);
  }
  bool isPure() const { return use_pure_fp16 || use_pure_bf16; }
  std::string dtype() const { return use_pure_bf16 ? "bfloat16" : amp_dtype.getValue(); }

  void warnOfNone(pd::ProgramOp main, AmpLevel level) {
    if (level == AmpLevel::Guarded)
      main.emitWarning(
          "amp: no op that can compute in half precision stands under fp16_guard; "
          "use_fp16_guard=false takes all of them");
    else
      main.emitWarning("amp: no op is on the white list of ")
          << dtype() << "; custom_white_list adds to it";
  }

  mlir::LogicalResult keepParameters(pd::ProgramOp main, mlir::Type half,
                                     pd::Declarations& declarations) {
    pd::ProgramOp startup = startupOf(getOperation());
    if (!startup)
      return main.emitError(
          "amp: start-up rounds parameters to half precision: the program needs a pd.program "
          "@startup");
    return keepInHalf(main, startup, half, declarations);
  }

  // An entry of a list that matches nothing is most often a misspelling: a warning. One that stands
  // in both lists contradicts itself: an error.
  mlir::LogicalResult checkLists(pd::ProgramOp main) {
    llvm::StringSet<> types, names;
    main.walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      types.insert(pd::OpView(op).type());
      for (mlir::Value value : op->getOperands()) names.insert(pd::nameOf(value));
      for (mlir::Value value : op->getResults()) names.insert(pd::nameOf(value));
    });
    const auto warn = [&](llvm::ArrayRef<std::string> entries, const llvm::StringSet<>& known,
                          llvm::StringRef field, llvm::StringRef what) {
      for (const std::string& entry : entries)
        if (!known.contains(entry))
          main.emitWarning() << field << ": the program has no " << what << " '" << entry << "'";
    };
    warn(llvm::ArrayRef<std::string>(custom_white_list), types, "custom_white_list", "op");
    warn(llvm::ArrayRef<std::string>(custom_black_list), types, "custom_black_list", "op");
    warn(llvm::ArrayRef<std::string>(custom_black_varnames), names, "custom_black_varnames",
         "variable");
    for (const std::string& type : custom_white_list)
      if (llvm::is_contained(llvm::ArrayRef<std::string>(custom_black_list), type))
        return main.emitError("amp: '")
               << type
               << "' stands in custom_white_list and in custom_black_list; take it out of one";
    return mlir::success();
  }

  // Everything that scaling itself adds (the factor, its counters) must change in a step that
  // overflows; every other variable must not. Which are which is told by the variables that are
  // new.
  mlir::LogicalResult scaleAndSkip(pd::ProgramOp main, const Classified& classified,
                                   pd::Declarations& declarations) {
    pd::ProgramOp startup = startupOf(getOperation());
    if (!startup)
      return main.emitError(
          "amp: loss scaling begins with init_loss_scaling: the program needs a pd.program "
          "@startup");
    llvm::StringSet<> before;
    for (auto var : getOperation().getOps<pd::VarOp>()) before.insert(var.getSymName());
    const ScalingOptions options = {init_loss_scaling,
                                    use_dynamic_loss_scaling,
                                    incr_every_n_steps,
                                    decr_every_n_nan_or_inf,
                                    incr_ratio,
                                    decr_ratio,
                                    apart,
                                    by_block};
    mlir::FailureOr<mlir::Value> infinite =
        scaleLoss(main, startup, classified, options, declarations);
    if (mlir::failed(infinite)) return mlir::failure();
    llvm::StringSet<> added;
    for (auto var : getOperation().getOps<pd::VarOp>())
      if (!before.contains(var.getSymName())) added.insert(var.getSymName());
    return skipWhere(main, *infinite, added, apart, declarations);
  }

  // What verification needs to know of the change, with every option that the result depends on
  // (compiler/verify/refinement reads it back).
  void declare() {
    const auto list = [](const auto& option) { return llvm::ArrayRef<std::string>(option); };
    Change change(&getContext(), "amp");
    const std::string half = dtype();
    change.set("amp_dtype", llvm::ArrayRef<std::string>(half))
        .set("custom_white_list", list(custom_white_list))
        .set("custom_black_list", list(custom_black_list))
        .set("custom_black_varnames", list(custom_black_varnames))
        .set("scaled", scales());
    if (isPure()) change.set("pure", true).set("use_fp16_guard", use_fp16_guard.getValue());
    if (scales())
      change.set("init_loss_scaling", init_loss_scaling.getValue())
          .set("use_dynamic_loss_scaling", use_dynamic_loss_scaling.getValue())
          .set("incr_every_n_steps", static_cast<int64_t>(incr_every_n_steps))
          .set("decr_every_n_nan_or_inf", static_cast<int64_t>(decr_every_n_nan_or_inf))
          .set("incr_ratio", incr_ratio.getValue())
          .set("decr_ratio", decr_ratio.getValue());
    declareChange(getOperation(), change);
  }
};

}  // namespace
}  // namespace dtranspile::passes
