// The declarations of programs while a pass adds to them: found in constant time, so that passes
// stay linear. Kept by passes and exporters that insert many ops.
#pragma once

#include <string>

#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::pd {

// On a pd.var: the variables that are parts of its storage (docs/dialects/pd.md).
inline constexpr llvm::StringLiteral kPartsAttr = "pd.parts";

// One argument list of a new op: values for an input slot, (name, type) for an output slot.
struct InputSlot {
  llvm::StringRef name;
  std::vector<mlir::Value> values;
};
struct OutputSlot {
  llvm::StringRef name;
  std::vector<std::pair<std::string, mlir::Type>> results;
};

// Reads every block once, when it is first asked for it. Declarations that others add, rename or
// erase meanwhile are not seen.
class Declarations {
 public:
  // Builds a framework op at the builder's insertion point. Declares its output variables in the
  // enclosing block when they are not.
  OpView create(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef type,
                llvm::ArrayRef<InputSlot> inputs, llvm::ArrayRef<OutputSlot> outputs,
                llvm::ArrayRef<mlir::NamedAttribute> attributes, int role);

  // The declaration of `name` in the block itself; null if there is none.
  DeclOp find(mlir::Block* block, llvm::StringRef name);
  // The one that `name` resolves to from the block, looking outwards up to the program.
  DeclOp resolve(mlir::Block* block, llvm::StringRef name);

  // Declares variable `name` in a block unless it, or a block around it in the same program,
  // already does. Returns false when a declaration of another type is there.
  bool declare(mlir::Block* block, llvm::StringRef name, mlir::Type type);
  // A copy of a declaration under a new name, right after it. No persistable, parameter or feed.
  DeclOp copy(DeclOp original, llvm::StringRef name);

  // `stem`, or `stem_<k>` with the smallest k >= 0 that no declaration of the program and no pd.var
  // has. Deterministic.
  std::string freshName(mlir::Block* block, llvm::StringRef stem);

 private:
  struct Scope {
    llvm::StringMap<DeclOp> byName;
    mlir::Operation* last = nullptr;  // of the declarations that the block begins with
  };
  Scope& scopeOf(mlir::Block* block);

  llvm::DenseMap<mlir::Block*, Scope> scopes_;
};

}  // namespace dtranspile::pd
