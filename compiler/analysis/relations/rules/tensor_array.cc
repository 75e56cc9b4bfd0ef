// Relation rules: family `tensor_array`. All elements of an array have one relation; it is that of
// the elements. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// A rank table sorts the sequences of a batch by length, so that its parts do not stand one behind
// the other: only the parts reading goes on.
// `$Out` is the array before the write; an empty one fits every relation.
const RuleRow kRows[] = {
    {"write_to_array", pointwise, "X:l, $Out:l, I:w => Out"},
    {"read_from_array", pointwise, "X:l, I:w, X_W:s -> Out"},
    {"lod_rank_table", wholeOnly, "X:s -> Out", "level"},
    {"max_sequence_len", wholeOnly, "RankTable -> Out"},
    {"lod_tensor_to_array", wholeOnly, "X:l, RankTable -> Out"},
    {"array_to_lod_tensor", wholeOnly, "X:l, RankTable -> Out"},
    {"reorder_lod_tensor_by_rank", wholeOnly, "X:l, RankTable -> Out"},
    {"shrink_rnn_memory", wholeOnly, "X:l, RankTable, I -> Out"},
    {"shrink_rnn_memory_grad", wholeOnly, "Out@GRAD:l, X:s -> X@GRAD"},
    {"lod_array_length", wholeOnly, "X:s -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> tensorArrayRules() { return kRows; }

}  // namespace dtranspile::verify
