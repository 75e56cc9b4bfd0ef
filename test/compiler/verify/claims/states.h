// Which states of operands a rule is asked about.
#pragma once

#include <vector>

#include "test/compiler/verify/claims/parts.h"

namespace dtranspile::claims {

using Assignment = std::vector<Held>;  // one per operand

// Assignments for operands of these values on an axis of n coordinates: all of them where they are
// few, else every operand and every pair by itself, operands of equal extents split together with
// at most one other state beside them, and a sample that `random` draws. The one in which every
// operand is whole, of scale 1, is among them where `plain` asks for it.
std::vector<Assignment> assignmentsOf(mlir::MLIRContext* context, const Tensors& operands,
                                      int64_t n, Random& random, bool plain);

// The same with one value per share: each dense operand of floats in turn is one, of scale 1 and of
// another, beside operands that are whole, and beside all that have some extent, split along it.
std::vector<Assignment> shareAssignmentsOf(const Tensors& operands);

// How ragged operands that are split cut extents; nothing where two of them disagree.
std::optional<Cuts> cutsOf(const Tensors& operands, const Assignment& assignment, int64_t n);

// The same for assignments that differ in scales only.
std::string patternOf(const Assignment& assignment);

}  // namespace dtranspile::claims
