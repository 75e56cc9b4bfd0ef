// Norms inside of updates become values of their own. A semantic pass: the last one in front of
// form-job.
#include "compiler/analysis/norms.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/types.h"
#include "passes/support/changes.h"
#include "passes/support/servers.h"
#include "passes/support/update_rule.h"
#include "passes/write-out-norms/pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_WRITEOUTNORMS
#include "passes/write-out-norms/pass.h.inc"

namespace {

class WriteOutNorms : public impl::WriteOutNormsBase<WriteOutNorms> {
 public:
  using WriteOutNormsBase::WriteOutNormsBase;

  // An update that takes the norm of its whole parameter cannot be done block by block on servers.
  // Written out, the norm is a value of its own, which servers sum up over blocks before the
  // update. Only where a parameter is cut into several blocks.
  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main)) return signalPassFailure();
    if (servers < 1 || min_block_size < 1) {
      getOperation().emitError("write-out-norms: servers or min_block_size is less than 1");
      return signalPassFailure();
    }
    if (!slice_var_up) return;
    std::vector<pd::OpView> ops = toWriteOut(*main);
    if (ops.empty()) return;
    if (!getOperation().lookupSymbol<mlir::ModuleOp>("source")) keepSource(getOperation());
    pd::Declarations declarations;
    std::vector<std::string> names;
    for (pd::OpView op : ops) {
      names.push_back(normedResult(op).str());
      writeOut(op, declarations);
    }
    declareChange(
        getOperation(),
        Change(&getContext(), "write-out-norms").set("values", llvm::ArrayRef<std::string>(names)));
  }

 private:
  // Updates at the top of the program, whose norm is of a tensor that is cut, and that can be
  // written out.
  std::vector<pd::OpView> toWriteOut(pd::ProgramOp main) {
    std::vector<pd::OpView> ops;
    for (mlir::Operation& op : *main.getBodyBlock()) {
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      const pd::OpView view(&op);
      if (!takesNorm(view) || !(view.role() & pd::kOptimize) || (view.role() & pd::kBackward) ||
          *whyNotWrittenOut(view) || isOfAnotherRule(view))
        continue;
      const auto type = llvm::cast<mlir::RankedTensorType>(normed(view).getType());
      if (type.getRank() && type.getNumElements() &&
          cutOf(type, servers, min_block_size).blocks() > 1)
        ops.push_back(view);
    }
    return ops;
  }

  // What passes lamb and lars have made of adam and momentum stays what their changes say.
  bool isOfAnotherRule(pd::OpView op) {
    auto changes = getOperation()->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr);
    return changes && op.type() != "clip_by_norm" &&
           llvm::any_of(changes, [](mlir::Attribute entry) {
             const llvm::StringRef pass =
                 llvm::cast<mlir::DictionaryAttr>(entry).getAs<mlir::StringAttr>("pass").getValue();
             return pass == "lamb" || pass == "lars";
           });
  }
};

}  // namespace
}  // namespace dtranspile::passes
