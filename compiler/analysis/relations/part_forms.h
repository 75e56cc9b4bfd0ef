// Ops that work on parts of what they take, though not by themselves: lookups in a table whose rows
// lie on the ranks of one axis, the loss of logits whose columns do, and updates that ask for norms
// of the whole. A composite stands for each, whose body (part_bodies.h) counts from the first row
// of the rank, or exchanges what the whole is asked for. This says how operands and results lie;
// used by the walk and by passes that plan.
#pragma once

#include <optional>
#include <string>

#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

enum class CutDim { First, Last, Any };
enum class PartKind { Vocabulary, Update };

// One row per op. The operands in slots `cuts` lie in parts along one dim, which `dim` says; all
// others are whole. Results are parts along the same dim, terms of a sum, or whole where they are
// not named.
struct PartForm {
  llvm::StringLiteral type, composite;
  PartKind kind;
  CutDim dim;
  llvm::StringRef cuts[4];
  llvm::StringRef parts[3];
  llvm::StringRef term;

  bool isCut(const pd::OpView& op, mlir::Value operand) const;
  // The dim of the first cut slot, given how that one lies.
  std::optional<int> dimOf(const pd::OpView& op, const State& first) const;
  // The vocabulary's dim.
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
