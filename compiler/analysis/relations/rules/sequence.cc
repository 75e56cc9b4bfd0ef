// Relation rules: family `sequence`. Ranks hold whole sequences, so that ops within a sequence see
// all of it. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

const RuleRow kRows[] = {
    {"sequence_conv", batchwise, "X:l, Filter:wl -> Out"},
    {"sequence_conv_grad", batchwise,
     "Out@GRAD:l, Filter:wl, X:s -> X@GRAD; Out@GRAD:l, X:l, Filter:ws -> +Filter@GRAD"},
    {"sequence_pool", batchwise, "X -> Out, MaxIndex"},
    {"sequence_pool_grad", batchwise, "Out@GRAD:l, X:m, MaxIndex -> X@GRAD"},
    {"sequence_softmax", batchwise, "X -> Out"},
    {"sequence_softmax_grad", batchwise, "Out@GRAD:l, Out, X -> X@GRAD"},
    {"sequence_expand", batchwise, "X:l, Y:s -> Out"},
    {"sequence_expand_grad", batchwise, "Out@GRAD:l, X:s, Y:s -> X@GRAD"},
    {"sequence_reverse", batchwise, "X:l -> Y"},
    {"lod_reset", batchwise, "X:l, Y:s -> Out"},
    {"lod_reset_grad", batchwise, "Out@GRAD:l, X:s -> X@GRAD"},
};

}  // namespace

llvm::ArrayRef<RuleRow> sequenceRules() { return kRows; }

}  // namespace dtranspile::verify
