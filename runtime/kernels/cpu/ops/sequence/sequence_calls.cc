// Library calls: family `sequence`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/sequence/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_ctc_align", Entry<CtcAlign>, kIndices},
    {"dt_edit_distance", Entry<EditDistance>, kIndices},
    {"dt_lod_reset", Entry<LodReset>, kAnyType},
    {"dt_lod_reset_grad", Entry<LodResetGrad>, kAnyType},
    {"dt_sequence_concat", Entry<SequenceConcat>, kAnyType},
    {"dt_sequence_concat_grad", Entry<SequenceConcatGrad>, kAnyType},
    {"dt_sequence_conv", Entry<SequenceConv>, kFloats},
    {"dt_sequence_conv_grad", Entry<SequenceConvGrad>, kFloats},
    {"dt_sequence_enumerate", Entry<SequenceEnumerate>, kIndices},
    {"dt_sequence_erase", Entry<SequenceErase>, kIndices},
    {"dt_sequence_expand", Entry<SequenceExpand>, kAnyType},
    {"dt_sequence_expand_as", Entry<SequenceExpandAs>, kAnyType},
    {"dt_sequence_expand_as_grad", Entry<SequenceExpandAsGrad>, kNumbers},
    {"dt_sequence_expand_grad", Entry<SequenceExpandGrad>, kNumbers},
    {"dt_sequence_mask", Entry<SequenceMask>, kNumbers},
    {"dt_sequence_pad", Entry<SequencePad>, kAnyType},
    {"dt_sequence_pad_grad", Entry<SequencePadGrad>, kAnyType},
    {"dt_sequence_pool", Entry<SequencePool>, kFloats},
    {"dt_sequence_pool_grad", Entry<SequencePoolGrad>, kFloats},
    {"dt_sequence_reshape", Entry<SequenceReshape>, kAnyType},
    {"dt_sequence_reshape_grad", Entry<SequenceReshapeGrad>, kAnyType},
    {"dt_sequence_reverse", Entry<SequenceReverse>, kAnyType},
    {"dt_sequence_scatter", Entry<SequenceScatter>, kNumbers},
    {"dt_sequence_scatter_grad", Entry<SequenceScatterGrad>, kNumbers},
    {"dt_sequence_slice", Entry<SequenceSlice>, kAnyType},
    {"dt_sequence_slice_grad", Entry<SequenceSliceGrad>, kAnyType},
    {"dt_sequence_softmax", Entry<SequenceSoftmax>, kFloats},
    {"dt_sequence_softmax_grad", Entry<SequenceSoftmaxGrad>, kFloats},
    {"dt_sequence_topk_avg_pooling", Entry<SequenceTopkAvgPooling>, kFloats},
    {"dt_sequence_topk_avg_pooling_grad", Entry<SequenceTopkAvgPoolingGrad>, kFloats},
    {"dt_sequence_unpad", Entry<SequenceUnpad>, kAnyType},
    {"dt_sequence_unpad_grad", Entry<SequenceUnpadGrad>, kAnyType},
    {"dt_share_lod", Entry<ShareLod>, kAnyType},
};

}  // namespace

FunctionTable SequenceFunctions() { return kRows; }

}  // namespace dtranspile::kernels
