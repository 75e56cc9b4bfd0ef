// What an importer keeps for a converter, but nobody can act on: checked by commands that rewrite,
// verify or run a program.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

// The kind, in pd.raw, of a variable that no block declares.
inline constexpr llvm::StringLiteral kUndeclared = "UNDECLARED";

// Fails, with an error at each op, where a name is not UTF-8 (plans, manifests and reports are
// JSON), and where an op reads a variable that no block declares and no op before it writes. A
// variable that is written without a declaration works, in the framework and here: a warning.
mlir::LogicalResult checkUsable(mlir::ModuleOp module);

}  // namespace dtranspile
