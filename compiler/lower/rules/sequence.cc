// Lowering rules: family `sequence`. Kernels: runtime/kernels/cpu/ops/sequence.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("ctc_align",
             "dt_ctc_align(Input, InputLength; blank, merge_repeated, padding_value) -> Output, "
             "OutputLength"),
    callRule(
        "edit_distance",
        "dt_edit_distance(Hyps, Refs, HypsLength, RefsLength; normalized) -> SequenceNum, Out"),
    callRule("lod_reset", "dt_lod_reset(X, Y; target_lod, append) -> Out"),
    callRule("lod_reset_grad", "dt_lod_reset_grad(X, Out@GRAD) -> X@GRAD"),
    callRule("sequence_concat", "dt_sequence_concat(X) -> Out"),
    callRule("sequence_concat_grad", "dt_sequence_concat_grad(X, Out@GRAD) -> X@GRAD"),
    callRule("sequence_conv",
             "dt_sequence_conv(X, PaddingData, Filter; contextLength, contextStart, contextStride, "
             "paddingTrainable) -> Out"),
    callRule("sequence_conv_grad",
             "dt_sequence_conv_grad(X, PaddingData, Filter, Out@GRAD; contextLength, contextStart, "
             "contextStride, paddingTrainable)"
             " -> X@GRAD, Filter@GRAD, PaddingData@GRAD"),
    callRule("sequence_enumerate", "dt_sequence_enumerate(X; win_size, pad_value) -> Out"),
    callRule("sequence_erase", "dt_sequence_erase(X; tokens) -> Out"),
    callRule("sequence_expand", "dt_sequence_expand(X, Y; ref_level) -> Out"),
    callRule("sequence_expand_grad",
             "dt_sequence_expand_grad(X, Y, Out@GRAD; ref_level) -> X@GRAD"),
    callRule("sequence_expand_as", "dt_sequence_expand_as(X, Y) -> Out"),
    callRule("sequence_expand_as_grad", "dt_sequence_expand_as_grad(X, Y, Out@GRAD) -> X@GRAD"),
    callRule("sequence_mask", "dt_sequence_mask(X, MaxLenTensor; maxlen) -> Y"),
    callRule("sequence_pad", "dt_sequence_pad(X, PadValue; padded_length) -> Out, Length"),
    callRule("sequence_pad_grad", "dt_sequence_pad_grad(X, Out@GRAD) -> X@GRAD"),
    callRule("sequence_pool", "dt_sequence_pool(X; pooltype, pad_value) -> Out, MaxIndex"),
    callRule("sequence_pool_grad",
             "dt_sequence_pool_grad(X, MaxIndex, Out@GRAD; pooltype) -> X@GRAD"),
    callRule("sequence_reshape", "dt_sequence_reshape(X; new_dim) -> Out"),
    callRule("sequence_reshape_grad", "dt_sequence_reshape_grad(X, Out@GRAD) -> X@GRAD"),
    callRule("sequence_reverse", "dt_sequence_reverse(X) -> Y"),
    callRule("sequence_scatter", "dt_sequence_scatter(X, Ids, Updates) -> Out"),
    callRule("sequence_scatter_grad",
             "dt_sequence_scatter_grad(Ids, Updates, Out@GRAD) -> X@GRAD, Updates@GRAD"),
    callRule("sequence_slice", "dt_sequence_slice(X, Offset, Length) -> Out"),
    callRule("sequence_slice_grad",
             "dt_sequence_slice_grad(X, Offset, Length, Out@GRAD) -> X@GRAD"),
    callRule("sequence_softmax", "dt_sequence_softmax(X) -> Out"),
    callRule("sequence_softmax_grad", "dt_sequence_softmax_grad(X, Out, Out@GRAD) -> X@GRAD"),
    callRule("sequence_topk_avg_pooling",
             "dt_sequence_topk_avg_pooling(X, ROW, COLUMN; topks, channel_num) -> Out, pos"),
    callRule("sequence_topk_avg_pooling_grad",
             "dt_sequence_topk_avg_pooling_grad(X, ROW, COLUMN, pos, Out@GRAD; topks, channel_num) "
             "-> X@GRAD"),
    callRule("sequence_unpad", "dt_sequence_unpad(X, Length) -> Out"),
    callRule("sequence_unpad_grad", "dt_sequence_unpad_grad(X, Out@GRAD) -> X@GRAD"),
};

}  // namespace

RuleTable sequenceRules() { return kRules; }

}  // namespace dtranspile::lower
