// Ops that work on a part of a vocabulary: lookups in a table whose rows lie on the ranks of one
// axis, and the loss of logits whose columns do. None of them does so by itself, since what it
// takes are numbers of the whole: a composite stands for it, whose body (vocabulary_body.h) counts
// from the first row of the rank. This says how its operands and results lie; used by the walk and
// by passes that plan.
#pragma once

#include <optional>
#include <string>

#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

// One row per op. The operand in `slot` lies in parts along its first dim, or its last; all others
// are whole. Results are whole, parts along the same dim, or terms of a sum.
struct VocabularyForm {
  struct Result {
    llvm::StringLiteral slot;
    dist::StateKind state;
  };
  llvm::StringLiteral type, composite, slot;
  bool last;
  Result results[2];

  int dimOf(const pd::OpView& op) const { return last ? rankOf(op.input(slot)) - 1 : 0; }
  State resultOf(llvm::StringRef output, int dim) const;
};

// Null where parts of a vocabulary are nothing to ops of this type, or where this one has what the
// composite has not, which `why` then says.
const VocabularyForm* vocabularyForm(const pd::OpView& op, std::string* why = nullptr);
// The form that a composite of this name stands for; null for others.
const VocabularyForm* vocabularyForm(llvm::StringRef composite);

// How results lie along an axis where operands lie like this; nothing where the op has no form, or
// its vocabulary is not what is cut.
std::optional<llvm::SmallVector<State, 8>> inVocabularyParts(mlir::Operation* op,
                                                             llvm::ArrayRef<State> operands);

}  // namespace dtranspile::verify
