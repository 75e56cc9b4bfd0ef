// Weights of which two in four are zero (asp): which ones a declared change means, and whether a
// term is the mask of one. By the definition in passes/asp/pass.td, and not by that pass.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/verify/refinement/terms.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {

// Weights that are updated and pruned, with their types. `excluded`: parts of names.
std::map<std::string, mlir::RankedTensorType> prunedWeights(
    pd::ProgramOp main, const std::vector<std::string>& excluded);

std::string maskOf(const std::string& weight);

// Whether `mask` is 1 where `weight` has one of the two largest absolute values of its group of
// four, and else 0.
bool isMask(const Terms& terms, TermId mask, TermId weight, mlir::RankedTensorType type);

// weight · mask, as elementwise_mul of equal shapes.
bool isPruned(const Terms& terms, TermId product, TermId weight, TermId mask);

}  // namespace dtranspile::verify
