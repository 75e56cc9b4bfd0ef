// Small edits of framework ops that trainers' and servers' programs share: internal to this folder.
#pragma once

#include <string>

#include "dialects/pd/declarations.h"

namespace dtranspile {

// Gives results of an op other names: `rename(result, its name)`, which may be the old one.
void renameResults(mlir::Operation* op,
                   llvm::function_ref<std::string(mlir::OpResult, llvm::StringRef)> rename);

// `pd.set @name, value`, behind an `assign` where the value has another name.
void setVariable(mlir::OpBuilder& builder, pd::Declarations& declarations, mlir::Location loc,
                 llvm::StringRef name, mlir::Value value, int role);

}  // namespace dtranspile
