#include "passes/tensor-parallel/plan.h"

namespace dtranspile::passes {

// What lies in parts in the program that the job is made of, as its author has split it.
mlir::LogicalResult TensorPlan::takeDeclared() {
  for (auto var : dist::RoleOp(job_.role).getBody().front().getOps<pd::VarOp>()) {
    auto dim = var->getAttrOfType<mlir::IntegerAttr>(kHeldInParts);
    if (!dim) continue;
    if (!mayStore(var.getSymNameAttr()))
      return var.emitError(
          "is held in parts by the ranks that the program was built for, and is "
          "set or read in a way that a part has not");
    stored_[var.getSymNameAttr()] = static_cast<int>(dim.getInt());
  }
  return mlir::success();
}

}  // namespace dtranspile::passes
