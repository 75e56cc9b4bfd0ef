// Keeps a copy of the saved program. In front of every pass that changes what it computes.
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/keep-source/pass.h"
#include "passes/support/changes.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_KEEPSOURCE
#include "passes/keep-source/pass.h.inc"

namespace {

struct KeepSource : impl::KeepSourceBase<KeepSource> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    for (mlir::Operation& op : *module.getBody())
      if (!llvm::isa<pd::VarOp, pd::ProgramOp>(op)) {
        op.emitError(
            "the input of keep-source holds pd.var and pd.program only; is it a job already?");
        return signalPassFailure();
      }
    keepSource(module);
  }
};

}  // namespace
}  // namespace dtranspile::passes
