// What stands behind the last element of flat parts. A flattened tensor whose elements do not
// divide is cut into equal parts with a pad, which is zero where it is cut (docs/dialects/dist.md).
// Ops work on the pad as on everything else: e to the zero is one. Putting parts together drops it,
// a sum over all elements does not, and is that of the whole only where the pad has stayed zero.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/Value.h"

namespace dtranspile::verify {

// What is known of the elements of a pad.
enum class Pad { Zero, Positive, Finite, Any };

// Follows a value that is cut flat along an axis back to where it was cut, through updates of the
// variables that it was read from: a pad is zero where it begins as zero and every step that sets
// it keeps it so. One question each: what is assumed of variables on the way holds for that one
// only.
class Pads {
 public:
  explicit Pads(llvm::StringRef axis) : axis_(axis) {}
  Pad of(mlir::Value value);

 private:
  Pad compute(mlir::Value value);
  Pad ofVariable(mlir::Operation* get, llvm::StringRef name);

  llvm::StringRef axis_;
  llvm::DenseMap<mlir::Value, Pad> known_;
  llvm::StringSet<> assumed_;  // variables that are looked at, or have been found to stay zero
};

}  // namespace dtranspile::verify
