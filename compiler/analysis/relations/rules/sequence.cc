// Relation rules: family `sequence`. Ranks hold whole sequences, so that ops within a sequence see
// all of it. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

const RuleRow kRows[] = {
    {"sequence_conv", batchwise, "X:l, Filter:wl -> Out",
     "PaddingData, paddingTrainable, contextLength, contextStart, contextStride"},
    {"sequence_conv_grad", batchwise,
     "Out@GRAD:l, Filter:wl, X:s -> X@GRAD; Out@GRAD:l, X:l, Filter:ws -> +Filter@GRAD",
     "PaddingData, paddingTrainable, contextLength, contextStart, contextStride"},
    {"sequence_pool", batchwise, "X -> Out, MaxIndex", "is_test, pooltype, pad_value"},
    {"sequence_pool_grad", batchwise, "Out@GRAD:l, X:m, MaxIndex -> X@GRAD",
     "is_test, pooltype, pad_value"},
    {"sequence_softmax", batchwise, "X -> Out", "data_format"},
    {"sequence_softmax_grad", batchwise, "Out@GRAD:l, Out, X -> X@GRAD", "data_format"},
    {"sequence_expand", batchwise, "X:l, Y:s -> Out", "ref_level"},
    {"sequence_expand_grad", batchwise, "Out@GRAD:l, X:s, Y:s -> X@GRAD", "ref_level"},
    {"sequence_reverse", batchwise, "X:l -> Y"},
    {"lod_reset", batchwise, "X:l, Y:s -> Out", "target_lod, append"},
    {"lod_reset_grad", batchwise, "Out@GRAD:l, X:s -> X@GRAD", "target_lod, append"},
};

}  // namespace

llvm::ArrayRef<RuleRow> sequenceRules() { return kRows; }

}  // namespace dtranspile::verify
