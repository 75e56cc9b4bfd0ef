// Which dims of a tensor a reshape, squeeze, unsqueeze or flatten makes of which: for the parts of
// a split dim, each reshaped by itself, to be the parts of a dim of the result. Both dims have
// equally many elements before them, whatever the extents are, and the extent of the result's is
// what divides by the number of parts: an entry -1 or 0 of a shape, or an extent of a tensor that
// is split likewise. A number that stands there for the whole batch does not. Used by
// rules/shape.cc.
#pragma once

#include "compiler/analysis/relations/numbers.h"

namespace dtranspile::verify {

struct ReshapeLabels {
  Labels from, to;
  llvm::SmallVector<Term, 2> extents;         // tensors whose extents the result has
  llvm::SmallVector<mlir::Value, 2> unknown;  // tensors that say the shape, and cannot be traced
};

// `op` is a reshape, squeeze, unsqueeze or flatten; `from` the extents of what it takes, `to` the
// rank of what it gives. The labels are dims of `from`.
ReshapeLabels reshapeLabels(RuleContext& context, const pd::OpView& op,
                            llvm::ArrayRef<int64_t> from, int to);

// Whether two lists of entries (numbers, 0: the extent of that dim, -1: what is left) make the same
// of every tensor of these extents, of which -1 are known when the step runs only.
bool makeSameShape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> one,
                   llvm::ArrayRef<int64_t> other);

}  // namespace dtranspile::verify
