// A sum of terms and of parts: some operands of a `sum` are terms of a sum over the ranks of one
// axis, the others parts along a dim. Its composite adds the terms up first, so that one
// reduce_scatter makes a part of all of them:
//
//   %t = sum(terms…) ; %p = reduce_scatter sum(%t) dim d ; sum(%p, parts…)
//
// Made by tensor-parallel for gradients between split layers (sequence_parallel), held against
// this definition by the walk.
#pragma once

#include <optional>
#include <string>

#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"
#include "llvm/ADT/SmallVector.h"

namespace dtranspile::verify {

inline constexpr llvm::StringLiteral kTermSum = "sum_of_terms";

struct TermSum {
  llvm::SmallVector<bool, 4> isTerm;  // per operand
  int64_t dim = 0;
  mlir::FlatSymbolRefAttr comm;
};

// The composite in the place of a `sum`, whose operands and result are of the types of terms and
// parts already. The op is erased.
dist::CompositeOp composeTermSum(pd::OpView sum, const TermSum& how,
                                 pd::Declarations& declarations);

// What the body of such a composite says; nothing, and why, where it is another body.
std::optional<TermSum> readTermSum(dist::CompositeOp composite, std::string& why);

}  // namespace dtranspile::verify
