// Relation rules: family `tensor_array`. All elements of an array have one relation; it is that of the elements. Notation: rule.h.
#include "compiler/verify/relations/families.h"
#include "compiler/verify/relations/kinds.h"

namespace dtranspile::verify {
namespace {

// `$Out` is the array before the write; an empty one fits every relation.
const RuleRow kRows[] = {
    {"write_to_array", pointwiseSum, "X:l, $Out:l, I:w -> Out"},
    {"read_from_array", pointwise, "X:l, I:w, X_W:s -> Out"},
    {"lod_array_length", wholeOnly, "X:s -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> tensorArrayRules() { return kRows; }

}  // namespace dtranspile::verify
