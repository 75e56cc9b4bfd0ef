// Rung 3: every communication is met by all members of its communicator with the same operation,
// type, values and root, in the same order, and nothing waits for ever. From one canonical run of
// the classes of ranks. Called by verify.cc.
#pragma once

#include "compiler/verify/communication/events.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// All roles of a job.
Rung verifyCommunication(mlir::ModuleOp job);

// Texts of the classes of one role, as specialisation gave them and whoever changed them since.
Rung verifyCommunication(llvm::ArrayRef<ClassText> classes);

// The text of one class in a specialised module (attribute dist.class).
ClassText classTextOf(mlir::ModuleOp specialized, dist::SelAttr where);

}  // namespace dtranspile::verify
