// The program of one device that a program of parallel layers is a rank's part of. First pass of
// requests with input_parallel; what lies where, lift.h finds out.
#include "passes/lift-parallel-ops/lift.h"
#include "passes/lift-parallel-ops/pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_LIFTPARALLELOPS
#include "passes/lift-parallel-ops/pass.h.inc"

namespace {

struct LiftParallelOps : impl::LiftParallelOpsBase<LiftParallelOps> {
  using LiftParallelOpsBase::LiftParallelOpsBase;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    auto main = module.lookupSymbol<pd::ProgramOp>("main");
    if (!main) {
      module.emitError("there is no pd.program @main");
      return signalPassFailure();
    }
    if (tensor_parallel_degree < 2) {
      main.emitError("lift-parallel-ops: tensor_parallel_degree is ")
          << tensor_parallel_degree.getValue()
          << "; say how many ranks the layers of the program are built for";
      return signalPassFailure();
    }
    Lift lift(module, main, module.lookupSymbol<pd::ProgramOp>("startup"), tensor_parallel_degree);
    if (mlir::failed(lift.run())) signalPassFailure();
  }
};

}  // namespace
}  // namespace dtranspile::passes
