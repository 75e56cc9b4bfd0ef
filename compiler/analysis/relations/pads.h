// What stands behind the last element of flat parts. A flattened tensor whose elements do not
// divide is cut into equal parts with a pad, which is zero where it is cut (docs/dialects/dist.md).
// Ops work on the pad as on everything else: e to the zero is one. Putting parts together drops it,
// a sum over all elements does not, and is that of the whole only where the pad has stayed zero.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"

namespace dtranspile::verify {

// What is known of the elements of a pad, from the best to the worst: there is none, since the
// elements divide; all are zero, above zero, finite; nothing.
enum class Pad { None, Zero, Positive, Finite, Any };

// Follows a flat part back to where it was cut, through regions and through the variables that it
// was read from: what they hold has a pad of zeros where it begins so and every step, or every
// turn of a loop, keeps it so. Of the values of one role.
class Pads {
 public:
  // Of a job whose values lie in parts, or of a program that a pass is going to cut: there a value
  // is whole before an op of the framework reads it, and so is what other ops give.
  enum class Lies { InParts, Whole };
  explicit Pads(Lies lies) : inParts_(lies == Lies::InParts) {}

  // Of a flat part; operands of its shape are cut as it is.
  Pad of(mlir::Value value);

 private:
  Pad compute(mlir::Value value);
  Pad ofArgument(mlir::BlockArgument argument);
  Pad ofResult(mlir::OpResult result);
  Pad ofBranch(mlir::OpResult result);
  Pad ofCut(mlir::Value whole, int64_t parts);
  Pad ofFramework(mlir::OpResult result);
  Pad ofVariable(mlir::Operation* get);
  Pad ofYields(mlir::Operation* op, unsigned number);
  Pad byInduction(const void* key, llvm::function_ref<Pad()> compute);

  bool inParts_;
  llvm::DenseMap<mlir::Value, Pad> known_;
  // Variables and arguments of loops: those that are looked at, taken to be zero meanwhile, and
  // those that have been.
  llvm::DenseSet<const void*> open_;
  llvm::DenseMap<const void*, Pad> carried_;
  llvm::DenseMap<mlir::Attribute, std::vector<mlir::Value>> sets_;  // of the role, by variable
};

}  // namespace dtranspile::verify
