// Small edits of framework ops that exporters share. Not for users outside of compiler/export.
#pragma once

#include <string>

#include "dialects/pd/declarations.h"
#include "dialects/pd/pd.h"

namespace dtranspile {

// Gives results of an op other names: `rename(result, its name)`, which may be the old one.
void renameResults(mlir::Operation* op,
                   llvm::function_ref<std::string(mlir::OpResult, llvm::StringRef)> rename);

// `pd.set @name, value`, after an `assign` where the value has another name.
void setVariable(mlir::OpBuilder& builder, pd::Declarations& declarations, mlir::Location loc,
                 llvm::StringRef name, mlir::Value value, int role);

// The framework's kernels write their results where they are named, while they still read: of an op
// whose result has the name of an operand, that operand is copied first (`<name>.before`). Not
// where the two belong together by their slots, and are the same cell in the framework's own
// programs: `Param` and `ParamOut`, the k-th of `X` and of `Out`. A program means what its values
// say; this is for programs that passes or people have written, not for imported ones.
void copyOverwrittenInputs(pd::ProgramOp program);

}  // namespace dtranspile
