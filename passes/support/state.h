// Variables that a semantic pass adds to a program. Used by amp.
#pragma once

#include "dialects/pd/declarations.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::passes {

// pd.program @startup beside @main; null where there is none.
pd::ProgramOp startupOf(mlir::ModuleOp module);

// A variable under `stem`, or a fresh name that begins with it: declared in both programs, and set
// to `value` at the end of start-up.
pd::VarOp addState(pd::ProgramOp main, pd::ProgramOp startup, llvm::StringRef stem,
                   mlir::RankedTensorType type, double value, pd::Declarations& declarations);

}  // namespace dtranspile::passes
