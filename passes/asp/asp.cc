// Half of the weights are zero, in groups of four or in blocks of four by four. A semantic pass:
// after lars and lamb, before lookahead, gradient-merge and form-job. The mask is made at the end
// of start-up (mask.h); every update is followed by a product with it.
#include "llvm/ADT/MapVector.h"
#include "passes/asp/mask.h"
#include "passes/asp/pass.h"
#include "passes/support/changes.h"
#include "passes/support/job.h"
#include "passes/support/state.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_ASP
#include "passes/asp/pass.h.inc"

namespace {

constexpr llvm::StringLiteral kLayers[] = {"fc", "linear", "conv2d"};
constexpr llvm::StringLiteral kMask = ".asp_mask";
constexpr int64_t kGroup = 4;
constexpr std::pair<llvm::StringLiteral, MaskAlgorithm> kAlgorithms[] = {
    {"mask_1d", MaskAlgorithm::Fours},
    {"mask_2d_greedy", MaskAlgorithm::BlocksBySize},
    {"mask_2d_best", MaskAlgorithm::BlocksBySum}};

// linear_3.w_0: the layer is what stands in front of the last number, and `w_` says that it is a
// weight. A layer may be named in full too.
bool isPrunedByName(llvm::StringRef parameter) {
  auto [owner, kind] = parameter.split('.');
  const llvm::StringRef suffix = kind.split('.').first;
  return suffix.contains("w_") && (llvm::is_contained(kLayers, owner) ||
                                   llvm::is_contained(kLayers, owner.rsplit('_').first));
}

struct Update {
  pd::OpView op;
  unsigned at;  // among its parameters
};

class Asp : public impl::AspBase<Asp> {
 public:
  using AspBase::AspBase;

  // ASP (automatic sparsity, the framework's fluid.contrib.sparsity): start-up makes a mask for
  // every weight and prunes the weight by it; every update multiplies the new weight by the mask,
  // so that zeros stay.
  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main)) return signalPassFailure();
    const auto* algorithm = llvm::find_if(
        kAlgorithms, [&](const auto& row) { return row.first == asp_mask_algo.getValue(); });
    if (algorithm == std::end(kAlgorithms)) {
      main->emitError("asp: asp_mask_algo is '")
          << asp_mask_algo << "'; mask_1d, mask_2d_greedy and mask_2d_best are known";
      return signalPassFailure();
    }
    pd::ProgramOp startup = startupOf(getOperation());
    if (!startup) {
      main->emitError(
          "asp: masks are made of what start-up makes: the program needs a pd.program @startup");
      return signalPassFailure();
    }
    Exclusions excluded(asp_excluded_layers, Exclusions::Match::Anywhere);
    llvm::MapVector<mlir::StringAttr, std::vector<Update>> weights = collect(*main, excluded);
    excluded.reportUnused(*main, "asp_excluded_layers");
    bool good = true;
    weights.remove_if([&](auto& entry) {
      const std::optional<bool> pruned = isPruned(entry.first, entry.second);
      good &= pruned.has_value();
      return !pruned.value_or(false);
    });
    if (!good) return signalPassFailure();
    if (weights.empty())
      main->emitWarning("asp: no weight of a layer fc, linear or conv2d is updated and pruned");
    pd::Declarations declarations;
    MaskMaker masks(algorithm->second, declarations);
    for (auto& [name, updates] : weights) prune(*main, startup, name, updates, masks, declarations);
    declareChange(
        getOperation(),
        Change(&getContext(), "asp")
            .set("asp_mask_algo", llvm::ArrayRef<std::string>(asp_mask_algo.getValue()))
            .set("asp_excluded_layers", llvm::ArrayRef<std::string>(asp_excluded_layers)));
  }

 private:
  // Updates by parameter: of a fused update one entry per member of its lists. In the order of the
  // program, which is that of the result.
  static llvm::MapVector<mlir::StringAttr, std::vector<Update>> collect(pd::ProgramOp main,
                                                                        Exclusions& excluded) {
    llvm::MapVector<mlir::StringAttr, std::vector<Update>> weights;
    main.walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      pd::OpView view(op);
      if (!view.input("Grad") || !view.output("ParamOut")) return;
      for (unsigned i = 0; i < view.inputCount("Param"); ++i)
        if (mlir::Value parameter = view.input("Param", i); parameter && view.output("ParamOut", i))
          if (const llvm::StringRef name = pd::nameOf(parameter);
              !excluded.has(name) && isPrunedByName(name))
            weights[mlir::StringAttr::get(op->getContext(), name)].push_back({view, i});
    });
    return weights;
  }

  // Nothing where it cannot be.
  std::optional<bool> isPruned(mlir::StringAttr name, const std::vector<Update>& updates) {
    mlir::Operation* at = updates[0].op.operation();
    auto var = getOperation().lookupSymbol<pd::VarOp>(name);
    auto type =
        var ? llvm::dyn_cast<mlir::RankedTensorType>(var.getType()) : mlir::RankedTensorType();
    const auto refuse = [&](const llvm::Twine& why) {
      at->emitError("asp: weight '") << name.getValue() << "' " << why;
      return std::nullopt;
    };
    if (!type || !type.hasStaticShape() || type.getRank() < 1 || type.getRank() > 4)
      return refuse("is no tensor of one to four known extents; name it in asp_excluded_layers");
    if (!type.getElementType().isF32() && !type.getElementType().isF64())
      return refuse("is neither float32 nor float64; name it in asp_excluded_layers");
    for (const Update& update : updates)
      if (update.op.inputCount("MasterParam") > 0)
        return refuse("has a master copy, which would have to be pruned too; leave asp out");
    if (getOperation().lookupSymbol((name.getValue() + kMask).str()))
      return refuse("has a mask already; leave asp out");
    if ((type.getRank() == 2 || type.getRank() == 4) &&
        type.getDimSize(groupedDim(type)) < kGroup) {
      at->emitWarning("asp: weight '")
          << name.getValue() << "' stays whole: its extent " << groupedDim(type) << " is below 4";
      return false;
    }
    return true;
  }

  // The mask is a parameter that no gradient reaches (stop_gradient), so that saves and checkpoints
  // carry it.
  static void prune(pd::ProgramOp main, pd::ProgramOp startup, mlir::StringAttr name,
                    const std::vector<Update>& updates, MaskMaker& masks,
                    pd::Declarations& declarations) {
    auto var = llvm::cast<pd::VarOp>(mlir::SymbolTable::lookupNearestSymbolFrom(main, name));
    mlir::OpBuilder builder(var);
    builder.setInsertionPointAfter(var);
    const std::string own = (name.getValue() + kMask).str();
    pd::VarOp::create(builder, var.getLoc(), builder.getStringAttr(own), var.getTypeAttr(),
                      builder.getUnitAttr());
    for (pd::ProgramOp program : {main, startup}) {
      declarations.declare(program.getBodyBlock(), own, var.getType());
      pd::DeclOp decl = declarations.find(program.getBodyBlock(), own);
      decl.setPersistable(true);
      decl.setIsParameter(true);
      decl.setStopGradient(true);
    }
    const auto mask = mlir::FlatSymbolRefAttr::get(builder.getStringAttr(own));
    const auto weight = mlir::FlatSymbolRefAttr::get(name);
    const auto times = [&](mlir::Value value, mlir::Value by, int role) {
      return elementwise(builder, value.getLoc(), "elementwise_mul", value, by, name.getValue(),
                         role, declarations);
    };
    builder.setInsertionPointToEnd(startup.getBodyBlock());
    mlir::Location loc = startup.getLoc();
    mlir::Value made = pd::GetOp::create(builder, loc, var.getType(), weight);
    mlir::Value kept = masks.of(builder, made, own);
    pd::SetOp::create(builder, loc, mask, kept);
    pd::SetOp::create(builder, loc, weight, times(made, kept, pd::kForward));

    for (const Update& update : updates) {
      mlir::Value updated = update.op.output("ParamOut", update.at);
      builder.setInsertionPointAfterValue(updated);
      mlir::Value by = pd::GetOp::create(builder, updated.getLoc(), var.getType(), mask);
      mlir::Value pruned = times(updated, by, pd::kOptimize);
      updated.replaceAllUsesExcept(pruned, pruned.getDefiningOp());
    }
  }
};

}  // namespace
}  // namespace dtranspile::passes
