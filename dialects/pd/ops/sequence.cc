// Rows of the op table: family `sequence`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/constraints.h"
#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_sequence.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kSequenceConvAttributes =
    "paddingTrainable:b=false, contextLength:i, contextStart:i=0, contextStride:i=1";

constexpr const char* kSequencePoolAttributes =
    "is_test:b=false, pooltype:s=AVERAGE, pad_value:f=0";

const OpRow kRows[] = {
    {"sequence_concat", "X+ -> Out", "", kPure, inferNewSequences},
    {"sequence_concat_grad", "Out@GRAD, X* -> X@GRAD*", "", kPure, inferGradients},
    {"sequence_conv", "X, PaddingData?, Filter -> Out", kSequenceConvAttributes, kPure,
     inferSequenceConv, kSequenceConvConstraints},
    {"sequence_conv_grad",
     "Filter, Out@GRAD, PaddingData?, X -> Filter@GRAD?, PaddingData@GRAD?, X@GRAD?",
     kSequenceConvAttributes, kPure, inferGradients},
    {"sequence_enumerate", "X -> Out", "win_size:i, pad_value:i=0", kPure, inferSequenceEnumerate},
    {"sequence_erase", "X -> Out", "tokens:is", kPure, inferSequenceErase},
    {"sequence_expand", "X, Y -> Out", "ref_level:i=-1", kPure, inferSequenceExpand},
    {"sequence_expand_grad", "Out@GRAD, X, Y -> X@GRAD?", "ref_level:i=-1", kPure, inferGradients},
    {"sequence_expand_as", "X, Y -> Out", "", kPure, inferNewSequences},
    {"sequence_expand_as_grad", "Out@GRAD, X?, Y? -> X@GRAD?", "", kPure, inferGradients},
    {"sequence_mask", "X, MaxLenTensor? -> Y", "maxlen:i=-1, out_dtype:i", kPure,
     inferSequenceMask},
    {"sequence_pad", "X, PadValue -> Out, Length", "padded_length:i=-1", kPure, inferSequencePad},
    {"sequence_pad_grad", "Out@GRAD, X? -> X@GRAD?", "padded_length:i=-1", kPure, inferGradients},
    {"sequence_pool", "X -> Out, MaxIndex", kSequencePoolAttributes, kPure, inferSequencePool,
     kOneOf<"pooltype", "AVERAGE SUM SQRT LAST FIRST MAX">},
    {"sequence_pool_grad", "Out@GRAD, X, MaxIndex? -> X@GRAD?", kSequencePoolAttributes, kPure,
     inferGradients},
    {"sequence_reshape", "X -> Out", "new_dim:i", kPure, inferSequenceReshape},
    {"sequence_reshape_grad", "Out@GRAD, X? -> X@GRAD?", "new_dim:i", kPure, inferGradients},
    {"sequence_reverse", "X -> Y", "", kPure, inferSame<"X", "Y">},
    {"sequence_scatter", "X, Ids, Updates -> Out", "", kPure, inferSame<"X", "Out">},
    {"sequence_scatter_grad", "Ids, Out@GRAD, Updates -> Updates@GRAD?, X@GRAD?", "", kPure,
     inferSequenceScatterGrad},
    {"sequence_slice", "X, Offset, Length -> Out", "", kPure, inferSequenceRows},
    {"sequence_slice_grad", "Length?, Offset?, Out@GRAD, X? -> X@GRAD?", "", kPure, inferGradients},
    {"sequence_softmax", "X -> Out", "data_format:s=AnyLayout", kPure, inferSame<"X", "Out">},
    {"sequence_softmax_grad", "Out, Out@GRAD, X -> X@GRAD?", "data_format:s=AnyLayout", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"sequence_topk_avg_pooling", "X, ROW, COLUMN -> Out, pos", "topks:is, channel_num:i", kPure,
     inferSequenceTopkAvgPooling},
    {"sequence_topk_avg_pooling_grad", "COLUMN, Out@GRAD, ROW, X, pos -> X@GRAD",
     "topks:is, channel_num:i", kPure, inferGradients},
    {"sequence_unpad", "X, Length -> Out", "", kPure, inferSequenceUnpad},
    {"sequence_unpad_grad", "Out@GRAD, X? -> X@GRAD?", "", kPure, inferGradients},
    {"lod_reset", "X, Y? -> Out", "target_lod:is={}, append:b=false", kPure, inferLodReset},
    {"lod_reset_grad", "Out@GRAD, X? -> X@GRAD?", "target_lod:is={}, append:b=false", kPure,
     inferGradients},
    {"ctc_align", "Input, InputLength? -> Output, OutputLength?",
     "blank:i=0, merge_repeated:b=true, padding_value:i=0", kPure, inferCtcAlign},
    {"edit_distance", "Hyps, Refs, HypsLength?, RefsLength? -> SequenceNum, Out",
     "normalized:b=false", kPure, inferEditDistance},
};

}  // namespace

Family sequenceFamily() { return {"sequence", kRows}; }

}  // namespace dtranspile::pd
