// Library calls: family `sequence`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/sequence/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_ctc_align", Entry<CtcAlign>},
    {"dt_edit_distance", Entry<EditDistance>},
    {"dt_lod_reset", Entry<LodReset>},
    {"dt_lod_reset_grad", Entry<LodResetGrad>},
    {"dt_sequence_concat", Entry<SequenceConcat>},
    {"dt_sequence_concat_grad", Entry<SequenceConcatGrad>},
    {"dt_sequence_conv", Entry<SequenceConv>},
    {"dt_sequence_conv_grad", Entry<SequenceConvGrad>},
    {"dt_sequence_enumerate", Entry<SequenceEnumerate>},
    {"dt_sequence_erase", Entry<SequenceErase>},
    {"dt_sequence_expand", Entry<SequenceExpand>},
    {"dt_sequence_expand_as", Entry<SequenceExpandAs>},
    {"dt_sequence_expand_as_grad", Entry<SequenceExpandAsGrad>},
    {"dt_sequence_expand_grad", Entry<SequenceExpandGrad>},
    {"dt_sequence_mask", Entry<SequenceMask>},
    {"dt_sequence_pad", Entry<SequencePad>},
    {"dt_sequence_pad_grad", Entry<SequencePadGrad>},
    {"dt_sequence_pool", Entry<SequencePool>},
    {"dt_sequence_pool_grad", Entry<SequencePoolGrad>},
    {"dt_sequence_reshape", Entry<SequenceReshape>},
    {"dt_sequence_reshape_grad", Entry<SequenceReshapeGrad>},
    {"dt_sequence_reverse", Entry<SequenceReverse>},
    {"dt_sequence_scatter", Entry<SequenceScatter>},
    {"dt_sequence_scatter_grad", Entry<SequenceScatterGrad>},
    {"dt_sequence_slice", Entry<SequenceSlice>},
    {"dt_sequence_slice_grad", Entry<SequenceSliceGrad>},
    {"dt_sequence_softmax", Entry<SequenceSoftmax>},
    {"dt_sequence_softmax_grad", Entry<SequenceSoftmaxGrad>},
    {"dt_sequence_topk_avg_pooling", Entry<SequenceTopkAvgPooling>},
    {"dt_sequence_topk_avg_pooling_grad", Entry<SequenceTopkAvgPoolingGrad>},
    {"dt_sequence_unpad", Entry<SequenceUnpad>},
    {"dt_sequence_unpad_grad", Entry<SequenceUnpadGrad>},
    {"dt_share_lod", Entry<ShareLod>},
};

}  // namespace

FunctionTable SequenceFunctions() { return kRows; }

}  // namespace dtranspile::kernels
