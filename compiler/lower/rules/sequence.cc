// Lowering rules: family `sequence`. Kernels: runtime/kernels/cpu/ops/sequence.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("ctc_align", "dt_ctc_align"),
    callRule("edit_distance", "dt_edit_distance"),
    callRule("lod_reset", "dt_lod_reset"),
    callRule("lod_reset_grad", "dt_lod_reset_grad"),
    callRule("sequence_concat", "dt_sequence_concat"),
    callRule("sequence_concat_grad", "dt_sequence_concat_grad"),
    callRule("sequence_conv", "dt_sequence_conv"),
    callRule("sequence_conv_grad", "dt_sequence_conv_grad"),
    callRule("sequence_enumerate", "dt_sequence_enumerate"),
    callRule("sequence_erase", "dt_sequence_erase"),
    callRule("sequence_expand", "dt_sequence_expand"),
    callRule("sequence_expand_grad", "dt_sequence_expand_grad"),
    callRule("sequence_expand_as", "dt_sequence_expand_as"),
    callRule("sequence_expand_as_grad", "dt_sequence_expand_as_grad"),
    callRule("sequence_mask", "dt_sequence_mask"),
    callRule("sequence_pad", "dt_sequence_pad"),
    callRule("sequence_pad_grad", "dt_sequence_pad_grad"),
    callRule("sequence_pool", "dt_sequence_pool"),
    callRule("sequence_pool_grad", "dt_sequence_pool_grad"),
    callRule("sequence_reshape", "dt_sequence_reshape"),
    callRule("sequence_reshape_grad", "dt_sequence_reshape_grad"),
    callRule("sequence_reverse", "dt_sequence_reverse"),
    callRule("sequence_scatter", "dt_sequence_scatter"),
    callRule("sequence_scatter_grad", "dt_sequence_scatter_grad"),
    callRule("sequence_slice", "dt_sequence_slice"),
    callRule("sequence_slice_grad", "dt_sequence_slice_grad"),
    callRule("sequence_softmax", "dt_sequence_softmax"),
    callRule("sequence_softmax_grad", "dt_sequence_softmax_grad"),
    callRule("sequence_topk_avg_pooling", "dt_sequence_topk_avg_pooling"),
    callRule("sequence_topk_avg_pooling_grad", "dt_sequence_topk_avg_pooling_grad"),
    callRule("sequence_unpad", "dt_sequence_unpad"),
    callRule("sequence_unpad_grad", "dt_sequence_unpad_grad"),
};

}  // namespace

RuleTable sequenceRules() { return kRules; }

}  // namespace dtranspile::lower
