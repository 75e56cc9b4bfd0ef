// The first difference between two programs, or two bodies, that should be the same. Asked by
// verification: is @reference the @source, is @source what was given, is the body of a loop that of
// the reference.
#pragma once

#include <optional>
#include <string>

#include "mlir/IR/Operation.h"

namespace dtranspile {

struct Difference {
  mlir::Operation* mine;    // where it is; the op around it where one side has no op there
  mlir::Operation* theirs;  // null where there is none
  std::string text;         // "attribute `mu` is 0.5, and 0.9 there"
};

// What one attribute is on both sides, for messages; dictionaries are named down to the entry that
// differs. `mine` or `theirs` may be null.
std::string attributeDifference(llvm::StringRef name, mlir::Attribute mine, mlir::Attribute theirs);

// What a comparison leaves open.
struct CompareRules {
  // True if two values that are defined outside of what is compared stand for each other.
  llvm::function_ref<bool(mlir::Value mine, mlir::Value theirs)> sameOutside;
  // Attributes of dialect dist belong to the job, not to the program.
  bool skipJobAttributes = false;
};

// Order, types, attributes, operands and nested regions; locations are not looked at.
std::optional<Difference> firstDifference(mlir::Operation* mine, mlir::Operation* theirs,
                                          const CompareRules& rules);

}  // namespace dtranspile
