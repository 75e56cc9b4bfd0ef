// Values of a program between two element types: casts that are shared, results of another type,
// other names. Used by the parts of the pass amp.
#pragma once

#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile::passes {

// The element type of a tensor, ragged tensor, SelectedRows or list; null for others.
mlir::Type elementOf(mlir::Type type);
// The type with another element type.
mlir::Type withElement(mlir::Type type, mlir::Type element);
inline mlir::Type elementOf(mlir::Value value) { return elementOf(value.getType()); }
bool isHalf(mlir::Type element);  // float16 or bfloat16

class Values {
 public:
  Values(pd::ProgramOp main, pd::Declarations& declarations);

  // The value as `element`: itself, or a cast of it in front of `user`, which later users share.
  // Its role and device are the user's.
  mlir::Value as(mlir::Value value, mlir::Type element, mlir::Operation* user);

  // The result becomes `element`, under its name; where others write that name with another type,
  // under a name of its own.
  void retype(mlir::OpResult result, mlir::Type element);

  // Calls a result otherwise, and declares that name.
  void rename(mlir::OpResult result, llvm::StringRef name);

  // A cast behind the op that makes `result`: all its uses take the cast, which has the result's
  // name, while the result gets one that says its type. Returns the cast.
  mlir::Operation* castBehind(mlir::OpResult result, mlir::Type element, int role);

 private:
  mlir::Operation* cast(mlir::OpBuilder& builder, mlir::Value value, mlir::Type element,
                        llvm::StringRef name, int role);

  mlir::Block* block_;
  pd::Declarations& declarations_;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts_;
  llvm::StringMap<int> writers_;  // of a name, at the top of the program
};

}  // namespace dtranspile::passes
