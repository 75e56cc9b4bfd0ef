// Weights of which half are zero (asp): which ones a declared change means, and whether a term is
// the mask of one. By the definition in passes/asp/pass.td, and not by that pass.
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

// The masks that a change can name (asp_mask_algo).
struct MaskRow {
  const char* algorithm;
  const char* kept;  // which elements, in words
  // Whether `mask` is 1 where `weight` has such an element, and else 0. `anyFloat`: floats are one
  // type, and casts between them nothing.
  bool (*isMask)(const Terms& terms, TermId mask, TermId weight, mlir::RankedTensorType type,
                 bool anyFloat);
};
const MaskRow* findMask(llvm::StringRef algorithm);  // null: unknown

// weight · mask, as elementwise_mul of equal shapes.
bool isPruned(const Terms& terms, TermId product, TermId weight, TermId mask);

}  // namespace dtranspile::verify
