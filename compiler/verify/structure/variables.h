// Rung 1: the variables of roles are those of the reference, under their names. Called by
// programs.cc.
#pragma once

#include "compiler/analysis/report.h"
#include "dialects/dist/dist.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// Variables of the role that the reference has are declared as there: with their attributes and
// type, or that of a rank's part by the relation that the role declares (docs/dialects/dist.md). A
// variable that stands for one of the reference has its name. Those that passes put in are like
// none of the reference, and are not looked at. `reference` is the module that holds it.
void checkVariables(dist::RoleOp role, mlir::Operation* reference, Rung& rung);

// Every persistable of the reference is held by some role.
void checkHeld(mlir::ModuleOp job, mlir::Operation* reference, Rung& rung);

}  // namespace dtranspile::verify
