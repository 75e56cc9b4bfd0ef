// Ops that work on parts of a vocabulary, though not by themselves: lookups in a table whose rows
// lie on the ranks of one axis, and the loss of logits whose columns do. A composite stands for
// each, whose body (part_bodies.h) counts from the first row of the rank. This says how operands
// and results lie; used by the walk and by passes that plan.
#pragma once

#include <optional>
#include <string>

#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

enum class CutDim { First, Last };

// One row per op. The operand in slot `cut` lies in parts along its first dim, or its last; all
// others are whole. Result `part` lies like it, `term` is a term of a sum, all others are whole.
struct PartForm {
  llvm::StringLiteral type, composite;
  CutDim dim;
  llvm::StringLiteral cut, part, term;

  int dimOf(const pd::OpView& op) const;
  State resultOf(llvm::StringRef output, int dim) const;
};

// Null where parts are nothing to ops of this type, or where this one has what the composite has
// not, which `why` then says.
const PartForm* partForm(const pd::OpView& op, std::string* why = nullptr);
// The form that a composite of this name stands for; null for others.
const PartForm* partForm(llvm::StringRef composite);

// How results lie along an axis where operands lie like this; nothing where the op has no form, or
// something else is cut.
std::optional<llvm::SmallVector<State, 8>> inParts(mlir::Operation* op,
                                                   llvm::ArrayRef<State> operands);

}  // namespace dtranspile::verify
