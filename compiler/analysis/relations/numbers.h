// What numbers an op is given where it may take them from tensors: extents, axes, repetitions. They
// are traced through constants and through `shape`, as far as the compiler can see. Rules ask this
// in place of the tensors' relations.
#pragma once

#include <optional>

#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

struct Number {
  enum class Kind { Known, Extent, Unknown } kind = Kind::Unknown;
  int64_t value = 0;   // of Known
  mlir::Value tensor;  // of Extent: it is the extent of this tensor along `dim`
  int dim = 0;

  static Number known(int64_t value) { return {Kind::Known, value, {}, 0}; }
  bool isKnown() const { return kind == Kind::Known; }
  bool isExtent() const { return kind == Kind::Extent; }
};
using Numbers = llvm::SmallVector<Number, 6>;

// The elements of a tensor, in order; nothing where their count is not known.
std::optional<Numbers> numbersOf(mlir::Value tensor);

// Where an op takes its numbers from: a list of tensors of one element, else a tensor, else an
// attribute (empty names: it has no such slot).
struct NumberSource {
  const char* list = "";
  const char* tensor = "";
  const char* attribute = "";
};
std::optional<Numbers> numbersOf(const pd::OpView& op, const NumberSource& source);
// The same, where all are known; otherwise nothing.
std::optional<llvm::SmallVector<int64_t>> knownNumbers(const pd::OpView& op,
                                                       const NumberSource& source);

// True where parts of the tensor along this dim lie on different ranks.
bool isSplitAlong(RuleContext& context, mlir::Value tensor, int dim);

// A dim of a result whose extent is one of a tensor: it carries `label` with that tensor. Known
// numbers, and extents that are the same on every rank, need no term.
void addExtent(RuleContext& context, const Number& number, int label, int& resultLabel, Form& form);

}  // namespace dtranspile::verify
