#include "compiler/lower/server_lowering.h"

#include "compiler/lower/dist_lowering.h"

namespace dtranspile::lower {

llvm::FailureOr<int> placeInVariable(Lowering& lowering, mlir::Operation* op,
                                     const Persistable& variable) {
  const bool blocked = variable.layout && variable.layout->kind != exec::LayoutKind::kEven;
  if (!blocked) return variable.buffer;
  op->emitError()
      << "persistable " << variable.name
      << " is cut into blocks, which differ from rank to rank: it can be read and set in "
         "dist.foreach_block only";
  return llvm::failure();
}

llvm::FailureOr<PlanProgram> programOf(dist::HandleOp handler) {
  if (handler.getKind() == dist::Handler::Round)
    return PlanProgram{.name = "round", .when = exec::When::kRound};
  handler.emitError() << "dist.handle " << dist::stringifyHandler(handler.getKind())
                      << ": handlers of single requests are not supported natively yet; in mode "
                         "sync the round is enough";
  return llvm::failure();
}

}  // namespace dtranspile::lower
