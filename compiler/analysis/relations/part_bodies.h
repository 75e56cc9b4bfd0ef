// The bodies of composites that work on parts (part_forms.h), written by their definition: what
// passes build, and what the walk holds bodies against.
//
// With V rows on n ranks the rank of coordinate c has rows c·V/n to (c + 1)·V/n.
//
//   c_embedding        rows of the ids that are among them, zeros for all others: a term of a sum
//   c_embedding_grad   gradients of the same ids, added up by row
//   c_softmax_with_cross_entropy        max and sum of exp over the ranks, and the logit
//                                      of the label, which one of them has
//   c_softmax_with_cross_entropy_grad   (softmax − 1 at the label) · gradient of the loss
//
// Ids and labels that no rank has end the step: the first rank asks for less than V, the last one
// for at least 0.
#pragma once

#include <string>

#include "compiler/analysis/relations/part_forms.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"

namespace dtranspile::verify {

// Where the parts are.
struct Parts {
  std::string axis;
  int64_t count = 1;             // ranks along the axis
  mlir::FlatSymbolRefAttr comm;  // over this axis alone
  int64_t version = 0;           // of the program: what 1.x computes otherwise
};

// The composite in the place of an op that has a form, whose operands and results are of the types
// of parts already. The op is erased.
dist::CompositeOp composeParts(pd::OpView op, const Parts& parts, pd::Declarations& declarations);

// Says what in the body is not its definition's; empty where nothing is.
std::string partBodyDiffers(dist::CompositeOp composite, llvm::StringRef axis, int64_t count);

}  // namespace dtranspile::verify
